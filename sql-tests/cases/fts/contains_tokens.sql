-- A filter of Lance's own, by a full-text index that neither stems words nor leaves out long ones.
CREATE EXTERNAL TABLE t (id INT, text VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'the quick brown fox'), (2, 'a lazy dog'), (3, 'quick dog, quick fox'), (4, NULL), (5, '');
CREATE INDEX text_idx ON t USING fts (text) WITH (stem = false, max_token_length = NULL);
INSERT INTO t VALUES (6, 'fox-quick'), (7, 'the'), (8, 'Quick fox');
SELECT id FROM t WHERE contains_tokens(text, 'fox quick') ORDER BY id;

-- oracle t text_idx: contains_tokens(text, 'fox quick')
-- oracle t text_idx: contains_tokens(text, 'Quick')
-- oracle t text_idx: contains_tokens(text, 'the fox')
-- oracle t text_idx: contains_tokens(text, 'dog') AND id < 3

ALTER TABLE t REFRESH INDEX text_idx WITH (max_token_length = NULL);

-- oracle t text_idx: contains_tokens(text, 'fox quick')
-- oracle t text_idx: contains_tokens(text, 'Quick')
-- oracle t text_idx: contains_tokens(text, 'the fox')
-- oracle t text_idx: contains_tokens(text, 'dog') AND id < 3
-- oracle t: NOT contains_tokens(text, 'quick')

-- The index keeps no stop words, and Lance would find nothing in it by them alone.
-- oracle t: contains_tokens(text, 'the')
-- oracle t: contains_tokens(text, '')

-- It is an expression like any other.
SELECT contains_tokens('one two three', 'three one') AS both, contains_tokens('one', 'two') AS none;
CREATE TABLE memory AS SELECT 1 AS id, 'some words' AS text;
SELECT id FROM memory WHERE contains_tokens(text, 'words');
CREATE OR REPLACE INDEX text_idx ON t USING fts (text) WITH (max_token_length = 0);
