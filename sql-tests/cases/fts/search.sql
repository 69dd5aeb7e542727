-- Words are looked for in all rows: in those of the index, and in those that it doesn't know yet.
CREATE EXTERNAL TABLE t (id INT, text VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES
  (1, 'the quick brown fox'), (2, 'a lazy dog'), (3, 'the quick dog and the quick fox'), (4, NULL), (5, '');
CREATE INDEX text_idx ON t USING fts (text) WITH (stem = false);
SELECT * FROM lance_fts('t', 'text', 'quick') ORDER BY _score DESC;
INSERT INTO t VALUES (6, 'Quick!'), (7, 'a dog is a dog'), (8, 'nothing of it');
SELECT id, _score FROM lance_fts('t', 'text', 'quick dog') ORDER BY _score DESC, id;

-- The same rows once they are indexed, in a second segment; scores are made of counts over all of them.
ALTER TABLE t REFRESH INDEX text_idx;
SELECT id, _score FROM lance_fts('t', 'text', 'quick dog') ORDER BY _score DESC, id;

-- The same scores of one segment.
CREATE OR REPLACE INDEX text_idx ON t USING fts (text) WITH (stem = false);
SELECT id, _score FROM lance_fts('t', 'text', 'quick dog') ORDER BY _score DESC, id;

-- The best ones.
SELECT id FROM lance_fts('t', 'text', 'quick dog') ORDER BY _score DESC LIMIT 2;
SELECT id FROM lance_fts('t', 'text', 'quick dog') WHERE id > 3 ORDER BY _score DESC LIMIT 1;
SELECT id FROM lance_fts('t', 'text', 'quick dog') WHERE _score > 1 ORDER BY id;
SELECT count(*), round(max(_score), 2) AS best FROM lance_fts('t', 'text', 'quick dog');

-- Words that no row has, and that no index has.
SELECT id FROM lance_fts('t', 'text', 'cat');
SELECT id FROM lance_fts('t', 'text', 'the');

-- Which words are the same is up to the index: this one stems them.
CREATE OR REPLACE INDEX text_idx ON t USING fts (text);
SELECT id FROM lance_fts('t', 'text', 'DOGS') ORDER BY id;
