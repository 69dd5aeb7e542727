-- Compaction between maintenance, with and without stable row ids.
CREATE EXTERNAL TABLE t (id INT, s VARCHAR, n INT) STORED AS LANCE LOCATION '{dir}/t';
CREATE EXTERNAL TABLE u (id INT, s VARCHAR, n INT) STORED AS LANCE LOCATION '{dir}/u' OPTIONS (enable_stable_row_ids true);
INSERT INTO t VALUES (1, 'a', 1), (2, 'b', 2);
INSERT INTO u VALUES (1, 'a', 1), (2, 'b', 2);
CREATE INDEX b ON t (id);
CREATE INDEX m ON t USING bitmap (s);
CREATE INDEX z ON t USING zonemap (n);
CREATE INDEX b ON u (id);
CREATE INDEX m ON u USING bitmap (s);
CREATE INDEX z ON u USING zonemap (n);
INSERT INTO t VALUES (3, 'a', 3), (4, 'b', 4);
INSERT INTO u VALUES (3, 'a', 3), (4, 'b', 4);
ALTER TABLE t REFRESH INDEXES;
ALTER TABLE u REFRESH INDEXES;
INSERT INTO t VALUES (5, 'a', 5), (6, 'b', 6);
INSERT INTO u VALUES (5, 'a', 5), (6, 'b', 6);
DELETE FROM t WHERE id % 4 = 0;
DELETE FROM u WHERE id % 4 = 0;
OPTIMIZE TABLE t;
OPTIMIZE TABLE u;
ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 2);
ALTER TABLE u OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 2);
SHOW INDEX SEGMENTS IN t;
SHOW INDEX SEGMENTS IN u;
OPTIMIZE TABLE t;
OPTIMIZE TABLE u;
ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 2);
ALTER TABLE u OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 2);
SHOW INDEXES IN t;
SHOW INDEXES IN u;
-- oracle t b: id > 1
-- oracle t m: s = 'a'
-- oracle t z: n > 1
-- oracle u b: id > 1
-- oracle u m: s = 'a'
-- oracle u z: n > 1
