-- The options, each with an effect that shows.
CREATE EXTERNAL TABLE t (id INT, text VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT v, repeat(md5(concat('a', v)), 100) FROM generate_series(1, 2000) AS s(v);
INSERT INTO t SELECT v, repeat(md5(concat('b', v)), 100) FROM generate_series(2001, 4000) AS s(v);
CREATE INDEX i ON t (id);
OPTIMIZE TABLE t WITH (max_bytes_per_file = 100000, BATCH_SIZE = 100, materialize_deletions = false);
SHOW INDEXES IN t;

-- oracle t i: id BETWEEN 1999 AND 2002

OPTIMIZE TABLE t WITH (target_rows_per_fragment = 5000, materialize_deletions_threshold = 0);
OPTIMIZE TABLE t WITH (materialize_deletions_threshold = 1.0, materialize_deletions = true);

-- oracle t i: id BETWEEN 1999 AND 2002

-- What is wrong with them.
OPTIMIZE TABLE t WITH (target_rows_per_fragment = 0);
OPTIMIZE TABLE t WITH (target_rows_per_fragment = -1);
OPTIMIZE TABLE t WITH (target_rows_per_fragment = 4294967296);
OPTIMIZE TABLE t WITH (target_rows_per_fragment = 1.5);
OPTIMIZE TABLE t WITH (target_rows_per_fragment = '100');
OPTIMIZE TABLE t WITH (target_rows_per_fragment = NULL);
OPTIMIZE TABLE t WITH (target_row_per_fragment = 100);
OPTIMIZE TABLE t WITH (num_threads = 2);
OPTIMIZE TABLE t WITH (defer_index_remap = true);
OPTIMIZE TABLE t WITH (materialize_deletions = 1);
OPTIMIZE TABLE t WITH (materialize_deletions_threshold = 1.1);
OPTIMIZE TABLE t WITH (materialize_deletions_threshold = -0.1);
OPTIMIZE TABLE t WITH (materialize_deletions = false, materialize_deletions_threshold = 0.5);
OPTIMIZE TABLE t WITH (max_bytes_per_file = 0);
OPTIMIZE TABLE t WITH (batch_size = 0);
OPTIMIZE TABLE t WITH (batch_size = 1, Batch_Size = 2);
EXPLAIN OPTIMIZE TABLE t WITH (target_rows_per_fragment = 0);
OPTIMIZE TABLE nothing;
