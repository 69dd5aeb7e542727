-- Columns that aren't there, or are of a type that the method doesn't take.
CREATE EXTERNAL TABLE t (id INT, text VARCHAR, tags VARCHAR[], meta STRUCT<lang VARCHAR, version INT>, price DECIMAL(10, 2))
STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'a', ['x'], {lang: 'en', version: 1}, 1.50);
CREATE INDEX i ON t (nothing);
CREATE INDEX i ON t (tex);
CREATE INDEX i ON t (meta.langu);
CREATE INDEX i ON t (id.lang);
CREATE INDEX i ON t ("meta.lang");
CREATE INDEX i ON t (meta);
CREATE INDEX i ON t (tags);
CREATE INDEX i ON t USING bitmap (tags);
CREATE INDEX i ON t USING bitmap (meta);
CREATE INDEX i ON t USING label_list (text);
CREATE INDEX i ON t USING ngram (id);
CREATE INDEX i ON t USING ngram (tags);
CREATE INDEX i ON t USING fts (id);
CREATE INDEX i ON t USING fts (meta);
CREATE INDEX i ON t USING fm (id);
CREATE INDEX i ON t USING bloomfilter (tags);
CREATE INDEX i ON t USING bloomfilter (price);
SHOW INDEXES IN t;
