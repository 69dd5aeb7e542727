-- An FM index finds the rows whose text has another text in it.
CREATE EXTERNAL TABLE t (id INT, text VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'the quick brown fox'), (2, 'a lazy dog'), (3, ''), (4, NULL), (5, 'Größe und Quick');
CREATE INDEX text_idx ON t USING fm (text);
SHOW INDEXES IN t;

-- oracle t text_idx: contains(text, 'quick')
-- oracle t text_idx: contains(text, 'lazy d')
-- oracle t text_idx: contains(text, 'Größe')
-- oracle t text_idx: contains(text, 'absent')

INSERT INTO t VALUES (6, 'no quick answer'), (7, NULL);

-- oracle t text_idx: contains(text, 'quick')

ALTER TABLE t REFRESH INDEX text_idx;

-- oracle t text_idx: contains(text, 'quick')
-- oracle t text_idx: contains(text, 'Größe')
-- oracle t text_idx: contains(text, 'answer')

SHOW INDEX SEGMENTS IN t;
