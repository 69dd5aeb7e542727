-- A full-text index on texts and on lists of texts: coverage grows by what was appended.
CREATE EXTERNAL TABLE t (id INT, text VARCHAR, texts VARCHAR[]) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES
  (1, 'the quick brown fox', ['one', 'two words']), (2, 'a lazy dog', ['words']), (3, '', []), (4, NULL, NULL);
CREATE INDEX text_idx ON t USING fts (text);
CREATE INDEX texts_idx ON t USING fts (texts) WITH (stem = false);
SHOW INDEXES IN t;
INSERT INTO t VALUES (5, 'no quick answer', ['two']), (6, NULL, NULL);

-- The index doesn't get into the way of other filters.
-- oracle t: contains(text, 'quick')
-- oracle t: array_has(texts, 'words')

ALTER TABLE t REFRESH INDEXES;
SHOW INDEX SEGMENTS IN t;

-- oracle t: contains(text, 'quick')
-- oracle t: array_has(texts, 'words')
