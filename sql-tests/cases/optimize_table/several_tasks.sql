-- Each run of small fragments is a task; all tasks are published by one commit.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT v FROM generate_series(1, 10) AS s(v);
INSERT INTO t SELECT v FROM generate_series(11, 20) AS s(v);
INSERT INTO t SELECT v FROM generate_series(21, 30) AS s(v);
INSERT INTO t SELECT v FROM generate_series(31, 40) AS s(v);
INSERT INTO t SELECT v FROM generate_series(41, 50) AS s(v);
INSERT INTO t SELECT v FROM generate_series(51, 60) AS s(v);
CREATE INDEX i ON t (id);
EXPLAIN OPTIMIZE TABLE t WITH (target_rows_per_fragment = 20);
OPTIMIZE TABLE t WITH (target_rows_per_fragment = 20);
SHOW INDEX SEGMENTS IN t;

-- oracle t i: id = 20
-- oracle t i: id BETWEEN 15 AND 45

-- One at a time.
SET lance_index.max_concurrent_units = 1;
INSERT INTO t SELECT v FROM generate_series(61, 65) AS s(v);
INSERT INTO t SELECT v FROM generate_series(66, 70) AS s(v);
INSERT INTO t SELECT v FROM generate_series(71, 75) AS s(v);
INSERT INTO t SELECT v FROM generate_series(76, 80) AS s(v);
EXPLAIN ANALYZE OPTIMIZE TABLE t WITH (target_rows_per_fragment = 10);

-- oracle t: id BETWEEN 55 AND 80

ALTER TABLE t REFRESH INDEX i;

-- oracle t i: id BETWEEN 55 AND 80
