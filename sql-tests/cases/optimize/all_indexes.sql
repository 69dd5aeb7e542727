-- OPTIMIZE INDEXES does all that it can, one row for each.
CREATE EXTERNAL TABLE t (id INT, s VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'a');
CREATE INDEX b ON t (id);
CREATE INDEX n ON t USING ngram (s);
INSERT INTO t VALUES (2, 'b');
ALTER TABLE t REFRESH INDEX b;
INSERT INTO t VALUES (3, 'c');
EXPLAIN ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 100, merge_factor = 2);
ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 100, merge_factor = 2);
SHOW INDEXES IN t;
-- What is for vector indexes only is skipped for the others.
EXPLAIN ALTER TABLE t OPTIMIZE INDEXES WITH (retrain = true);
ALTER TABLE t OPTIMIZE INDEXES WITH (retrain = true);
ALTER TABLE t OPTIMIZE INDEXES WITH (merge_factor = 2);
-- The same by a procedure and by table functions.
INSERT INTO t VALUES (4, 'd');
CALL lance_index.optimize_indexes(table => t, target_rows_per_segment => 100, merge_factor => 2);
SELECT * FROM lance_optimize_index('t', 'b', 'target_rows_per_segment=100', 'merge_factor=2');
SELECT index_name, segments_after FROM lance_optimize_indexes('t');
EXPLAIN SELECT * FROM lance_optimize_index('t', 'b');

-- Without options, each by the policy that is stored with it.
ALTER TABLE t ALTER INDEX b SET (target_rows_per_segment = 100, merge_factor = 2);
EXPLAIN ALTER TABLE t OPTIMIZE INDEXES;
SHOW INDEXES IN t;
ALTER TABLE t OPTIMIZE INDEXES;
ALTER TABLE t ALTER INDEX b RESET (target_rows_per_segment, merge_factor);
EXPLAIN ALTER TABLE t OPTIMIZE INDEX b;
