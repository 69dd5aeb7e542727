-- C12: a column may be a leaf of a struct.
CREATE EXTERNAL TABLE t (id INT, meta STRUCT<lang VARCHAR, version INT>) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES
  (1, {lang: 'en', version: 1}), (2, {lang: 'de', version: 1}), (3, {lang: 'en', version: 2}),
  (4, {lang: NULL, version: 3}), (5, NULL);
CREATE INDEX lang ON t (meta.lang);
CREATE INDEX version ON t USING bitmap (meta.version);
SHOW INDEXES IN t;

-- oracle t lang: meta.lang = 'en'
-- oracle t lang: meta.lang IS NULL
-- oracle t version: meta.version = 1

INSERT INTO t VALUES (6, {lang: 'en', version: 1});

-- oracle t lang: meta.lang = 'en'

ALTER TABLE t REFRESH INDEXES;

-- oracle t lang: meta.lang = 'en'
-- oracle t version: meta.version = 1

SHOW INDEXES IN t;
