-- Of equal segments, merge_factor are merged at once: one fewer are left alone, and of twice as
-- many and one, one is left.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (0);
CREATE INDEX i ON t (id);
INSERT INTO t VALUES (1);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t VALUES (2);
ALTER TABLE t REFRESH INDEX i;
SHOW INDEX SEGMENTS IN t;
-- Three of four: nothing to do, and no new version.
EXPLAIN ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 1000, merge_factor = 4);
ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 1000, merge_factor = 4);
INSERT INTO t VALUES (3);
ALTER TABLE t REFRESH INDEX i;
ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 1000, merge_factor = 4);
SHOW INDEX SEGMENTS IN t;
-- oracle t i: id = 2
-- oracle t i: id >= 0
INSERT INTO t VALUES (4);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t VALUES (5);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t VALUES (6);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t VALUES (7);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t VALUES (8);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t VALUES (9);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t VALUES (10);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t VALUES (11);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t VALUES (12);
ALTER TABLE t REFRESH INDEX i;
EXPLAIN ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 1000, merge_factor = 4);
ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 1000, merge_factor = 4);
SHOW INDEX SEGMENTS IN t;
-- oracle t i: id = 7
-- oracle t i: id >= 0
