-- Nothing to do, no version: an empty table, one fragment, fragments that are large enough.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
OPTIMIZE TABLE t;
EXPLAIN OPTIMIZE TABLE t;
INSERT INTO t VALUES (1), (2), (3);
OPTIMIZE TABLE t;
INSERT INTO t VALUES (4), (5), (6);
OPTIMIZE TABLE t WITH (target_rows_per_fragment = 3);
EXPLAIN ANALYZE OPTIMIZE TABLE t WITH (target_rows_per_fragment = 3);
OPTIMIZE TABLE t WITH (target_rows_per_fragment = 4);
OPTIMIZE TABLE t WITH (target_rows_per_fragment = 4);
SELECT * FROM t ORDER BY id;
