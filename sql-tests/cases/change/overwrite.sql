-- INSERT OVERWRITE replaces all rows in one commit. The indexes stay, with their parameters.
CREATE EXTERNAL TABLE t (id INT, words VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT value, concat('old ', value) FROM generate_series(0, 99);
CREATE INDEX by_id ON t USING zonemap (id) WITH (rows_per_zone = 16);
CREATE INDEX by_words ON t USING fts (words) WITH (stem = false, with_position = true);
INSERT OVERWRITE t SELECT value, concat('new ', value) FROM generate_series(50, 149);
SHOW INDEXES FROM t;
-- oracle t: id BETWEEN 40 AND 60
ALTER TABLE t REFRESH INDEXES;
SHOW INDEXES FROM t;
-- oracle t by_id: id BETWEEN 40 AND 60

-- They were built as before.
ALTER TABLE t REFRESH INDEX by_id WITH (rows_per_zone = 16);
ALTER TABLE t REFRESH INDEX by_words WITH (stem = false, with_position = true);

-- From the table itself.
INSERT OVERWRITE t SELECT id, words FROM t WHERE id < 60;
SELECT count(*), min(id), max(id) FROM t;
-- Nothing takes the place of everything; nothing of nothing makes no version.
EXPLAIN INSERT OVERWRITE t SELECT id, words FROM t WHERE id < 0;
INSERT OVERWRITE t SELECT id, words FROM t WHERE id < 0;
INSERT OVERWRITE t SELECT id, words FROM t WHERE id < 0;
SELECT count(*) FROM t;
ALTER TABLE t REFRESH INDEX by_id;
INSERT INTO t VALUES (1, 'last');
ALTER TABLE t REFRESH INDEXES;
-- oracle t by_id: id = 1
