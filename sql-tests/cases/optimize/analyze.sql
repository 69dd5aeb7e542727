-- EXPLAIN ANALYZE does it, and adds what each unit took, read and wrote.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
CREATE INDEX i ON t (id);
INSERT INTO t VALUES (0);
INSERT INTO t VALUES (1);
ALTER TABLE t REFRESH INDEX i WITH (num_segments = 2);
INSERT INTO t VALUES (2);
EXPLAIN ANALYZE ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 100, merge_factor = 2);
SHOW INDEX SEGMENTS IN t;
