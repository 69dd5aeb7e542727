-- C28: four appends of one fragment each, covered by two segments of two fragments, which REFRESH
-- makes contiguous. Fragments of different segments are never put together: two remain.
CREATE EXTERNAL TABLE t (id INT, n INT) STORED AS LANCE LOCATION '{dir}/t';
CREATE INDEX i ON t (id);
INSERT INTO t SELECT v, v % 10 FROM generate_series(1, 250) AS s(v);
INSERT INTO t SELECT v, v % 10 FROM generate_series(251, 500) AS s(v);
INSERT INTO t SELECT v, v % 10 FROM generate_series(501, 750) AS s(v);
INSERT INTO t SELECT v, v % 10 FROM generate_series(751, 1000) AS s(v);
ALTER TABLE t REFRESH INDEX i WITH (num_segments = 2);
SHOW INDEX SEGMENTS IN t;
EXPLAIN OPTIMIZE TABLE t WITH (target_rows_per_fragment = 1000);
OPTIMIZE TABLE t WITH (target_rows_per_fragment = 1000);
SHOW INDEX SEGMENTS IN t;

-- oracle t i: id = 1
-- oracle t i: id = 250
-- oracle t i: id = 251
-- oracle t i: id = 500
-- oracle t i: id = 501
-- oracle t i: id BETWEEN 740 AND 760
-- oracle t i: id >= 1000
-- oracle t i: id > 1000

-- Nothing is unindexed, and nothing is left to compact.
ALTER TABLE t REFRESH INDEX i;
OPTIMIZE TABLE t WITH (target_rows_per_fragment = 1000);
EXPLAIN OPTIMIZE TABLE t WITH (target_rows_per_fragment = 1000);
