-- What is done to a table as a whole, by functions.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1), (2);
INSERT INTO t VALUES (3), (4);
INSERT INTO t VALUES (5), (6);
EXPLAIN SELECT * FROM lance_optimize_table('t', 'target_rows_per_fragment=4');
SELECT * FROM lance_optimize_table('t', 'target_rows_per_fragment=4');
SELECT versions_removed, files_removed, version
FROM lance_vacuum_table('t', 'older_than=''0 seconds''') ORDER BY 1 LIMIT 1;
SELECT count(*) FROM t;
