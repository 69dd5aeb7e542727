-- A zone map may be on a list or a struct. It finds those that are NULL.
CREATE EXTERNAL TABLE t (id INT, tags VARCHAR[], meta STRUCT<lang VARCHAR>) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, ['a'], {lang: 'en'}), (2, [], {lang: NULL}), (3, NULL, NULL);
CREATE INDEX tags_i ON t USING zonemap (tags);
CREATE INDEX meta_i ON t USING zonemap (meta);
SHOW INDEXES IN t;

-- oracle t tags_i: tags IS NULL
-- oracle t meta_i: meta IS NULL
-- oracle t: tags = ['a']
-- oracle t: array_has(tags, 'a')
-- oracle t: meta.lang = 'en'

INSERT INTO t VALUES (4, NULL, {lang: 'en'}), (5, ['a'], NULL);

-- oracle t tags_i: tags IS NULL
-- oracle t meta_i: meta IS NULL

ALTER TABLE t REFRESH INDEXES;

-- oracle t tags_i: tags IS NULL
-- oracle t meta_i: meta IS NULL
-- oracle t tags_i: tags IS NOT NULL
-- oracle t: meta.lang = 'en'
