-- DELETE takes rows away from tables and so from every index; nothing that comes after brings them
-- back.
CREATE EXTERNAL TABLE t (id INT, kind VARCHAR, words VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT value, concat('k', value % 3), concat('word ', value % 5) FROM generate_series(0, 99);
CREATE INDEX by_id ON t (id);
CREATE INDEX by_kind ON t USING bitmap (kind);
CREATE INDEX by_words ON t USING fts (words);
DELETE FROM t WHERE id < 10 AND kind = 'k1';
-- oracle t by_id: id < 20
-- oracle t by_kind: kind = 'k1'

-- No row, no version.
DELETE FROM t WHERE id > 1000;
-- What DataFusion knows to be false deletes nothing.
DELETE FROM t WHERE false;
DELETE FROM t WHERE id = 1 AND id = 2;
DELETE FROM t WHERE NULL;
SELECT count(*) FROM t;

-- A dry run.
EXPLAIN DELETE FROM t WHERE id BETWEEN 20 AND 30;
SELECT count(*) FROM t;
DELETE FROM t WHERE id BETWEEN 20 AND 30;
SELECT count(*) FROM t;

INSERT INTO t VALUES (1, 'k1', 'word 1');
ALTER TABLE t REFRESH INDEXES;
-- oracle t by_id: id < 40
-- oracle t by_kind: kind = 'k1'

DELETE FROM t;
-- oracle t: id < 40
SHOW INDEXES FROM t;
ALTER TABLE t REFRESH INDEXES;
INSERT INTO t VALUES (7, 'k1', 'word 2');
ALTER TABLE t REFRESH INDEXES;
-- oracle t by_id: id = 7
-- oracle t by_kind: kind = 'k1'

TRUNCATE TABLE t;
SELECT count(*) FROM t;
