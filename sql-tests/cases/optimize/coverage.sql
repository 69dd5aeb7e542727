-- What is unindexed is indexed first, in segments of at most the target, which are not merged by the
-- same statement.
CREATE EXTERNAL TABLE t (id BIGINT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT value FROM generate_series(0, 99);
CREATE INDEX i ON t (id);
INSERT INTO t SELECT value FROM generate_series(100, 159);
INSERT INTO t SELECT value FROM generate_series(160, 199);
INSERT INTO t SELECT value FROM generate_series(200, 449);
INSERT INTO t SELECT value FROM generate_series(450, 459);
EXPLAIN ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 100, merge_factor = 2);
ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 100, merge_factor = 2);
SHOW INDEX SEGMENTS IN t;
-- oracle t i: id BETWEEN 90 AND 455
-- Bytes are estimated from what is there.
INSERT INTO t SELECT value FROM generate_series(460, 559);
INSERT INTO t SELECT value FROM generate_series(560, 659);
ALTER TABLE t OPTIMIZE INDEX i WITH (target_bytes_per_segment = 1200, merge_factor = 2);
SHOW INDEX SEGMENTS IN t;
-- oracle t i: id BETWEEN 90 AND 605
