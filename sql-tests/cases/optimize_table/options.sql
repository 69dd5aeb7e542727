-- The options, each with an effect that shows.
CREATE EXTERNAL TABLE t (id INT, text VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT v, repeat(md5(concat('a', v)), 100) FROM generate_series(1, 2000) AS s(v);
INSERT INTO t SELECT v, repeat(md5(concat('b', v)), 100) FROM generate_series(2001, 4000) AS s(v);
CREATE INDEX i ON t (id);
-- How many files that makes is up to when Lance's writer flushes.
SELECT fragments_removed, fragments_added > 2 AS more, files_added = fragments_added AS a_file_each, version
FROM lance_optimize_table('t', 'max_bytes_per_file = 100000, BATCH_SIZE = 100, materialize_deletions = false');
SELECT name, num_indexed_fragments > 2 AS more, num_indexed_rows, indexed_percent, num_segments, state
FROM lance_indexes('t');

-- oracle t i: id BETWEEN 1999 AND 2002

SELECT fragments_removed > 2 AS all_of_them, fragments_added, files_removed = fragments_removed AS a_file_each, version
FROM lance_optimize_table('t', 'target_rows_per_fragment = 5000, materialize_deletions_threshold = 0');
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
