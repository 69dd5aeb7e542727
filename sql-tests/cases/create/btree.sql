-- A btree, the default method, finds single values, ranges and NULLs.
CREATE EXTERNAL TABLE t (id INT, name VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'a'), (2, 'b'), (NULL, 'c'), (4, NULL);
CREATE INDEX id_idx ON t (id);
SHOW INDEXES IN t;

-- oracle t id_idx: id = 2
-- oracle t id_idx: id > 1 AND id < 5
-- oracle t id_idx: id IN (1, 4, 9)
-- oracle t id_idx: id IS NULL
-- oracle t id_idx: id = 3

-- A query's plan names the index.
EXPLAIN SELECT * FROM t WHERE id = 2;
