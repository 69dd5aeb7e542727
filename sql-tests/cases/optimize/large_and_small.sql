-- A large segment is never merged with small ones.
CREATE EXTERNAL TABLE t (id BIGINT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT value FROM generate_series(0, 899);
CREATE INDEX i ON t (id);
INSERT INTO t SELECT value FROM generate_series(1000, 1009);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t SELECT value FROM generate_series(1010, 1019);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t SELECT value FROM generate_series(1020, 1029);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t SELECT value FROM generate_series(1030, 1039);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t SELECT value FROM generate_series(1040, 1049);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t SELECT value FROM generate_series(1050, 1059);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t SELECT value FROM generate_series(1060, 1069);
ALTER TABLE t REFRESH INDEX i;
EXPLAIN ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 1000, merge_factor = 8);
ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 1000, merge_factor = 8);
-- With an eighth small one, these are.
INSERT INTO t VALUES (2000);
ALTER TABLE t REFRESH INDEX i;
ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 1000, merge_factor = 8);
SHOW INDEX SEGMENTS IN t;
-- oracle t i: id > 890
-- oracle t i: id = 2000
