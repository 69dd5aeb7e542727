-- A full-text index that covers nothing, any more or yet, is no reason for contains_tokens to fail.
CREATE EXTERNAL TABLE t (id BIGINT, s VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'red fox'), (2, 'fox'), (3, 'dog');
CREATE INDEX i ON t USING fts (s) WITH (stem = false, max_token_length = NULL, train = false);
SELECT id FROM t WHERE contains_tokens(s, 'red fox');
ALTER TABLE t REFRESH INDEX i;
-- oracle t i: contains_tokens(s, 'red fox')
UPDATE t SET id = id + 10;
-- oracle t: contains_tokens(s, 'red fox')
DELETE FROM t WHERE contains_tokens(s, 'dog');
INSERT OVERWRITE t SELECT * FROM t;
INSERT INTO t VALUES (4, 'a red fox');
-- oracle t: contains_tokens(s, 'red fox')
SELECT id, s FROM t ORDER BY id;
ALTER TABLE t REFRESH INDEX i;
-- oracle t i: contains_tokens(s, 'red fox')
TRUNCATE TABLE t;
SELECT id FROM t WHERE contains_tokens(s, 'red fox');
