-- Full text: merged segments give the same rows and scores as one that is built at once; rows
-- without tokens are no obstacle, and phrases are found.
CREATE EXTERNAL TABLE t (id INT, s VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'quick fox number1'), (2, 'the fox is quick'), (3, '');
CREATE INDEX f ON t USING fts (s) WITH (with_position = true, stem = false, remove_stop_words = false);
INSERT INTO t VALUES (10, ''), (11, NULL);
ALTER TABLE t REFRESH INDEX f;
INSERT INTO t VALUES (20, 'quick fox number20'), (21, 'the fox is quick'), (22, '');
ALTER TABLE t REFRESH INDEX f;
INSERT INTO t VALUES (30, 'a brown dog'), (31, 'a quick brown fox');
ALTER TABLE t OPTIMIZE INDEX f WITH (target_rows_per_segment = 1000, merge_factor = 3);
ALTER TABLE t OPTIMIZE INDEX f WITH (target_rows_per_segment = 1000, merge_factor = 2);
SHOW INDEXES IN t;
SELECT id, s, round(_score, 5) AS score FROM lance_fts('t', 's', 'quick') ORDER BY score DESC, id;
SELECT id FROM lance_fts('t', '{"phrase": {"column": "s", "terms": "quick fox"}}') ORDER BY id;
CREATE OR REPLACE INDEX f ON t USING fts (s) WITH (with_position = true, stem = false, remove_stop_words = false);
SELECT id, s, round(_score, 5) AS score FROM lance_fts('t', 's', 'quick') ORDER BY score DESC, id;
SELECT id FROM lance_fts('t', '{"phrase": {"column": "s", "terms": "quick fox"}}') ORDER BY id;
