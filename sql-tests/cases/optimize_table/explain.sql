-- EXPLAIN shows the tasks and does nothing: the version that a DROP of nothing finds stays.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1), (2), (3);
INSERT INTO t VALUES (4);
INSERT INTO t VALUES (5);
DROP INDEX IF EXISTS nothing ON t;
EXPLAIN OPTIMIZE TABLE t;
EXPLAIN OPTIMIZE TABLE t WITH (target_rows_per_fragment = 2);
EXPLAIN FORMAT tree OPTIMIZE TABLE t;
EXPLAIN VACUUM TABLE t WITH (older_than = '0 seconds');
DROP INDEX IF EXISTS nothing ON t;
EXPLAIN ANALYZE OPTIMIZE TABLE t;
DROP INDEX IF EXISTS nothing ON t;
CALL lance_index.optimize_table(table => t, target_rows_per_fragment => 100);
