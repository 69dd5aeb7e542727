-- Leaves of a struct.
CREATE EXTERNAL TABLE t (id INT, meta STRUCT<lang VARCHAR, version INT, kind VARCHAR, size INT, name VARCHAR, words VARCHAR>) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT v, named_struct('lang', concat('l', v % 2), 'version', v, 'kind', concat('k', v % 3), 'size', v, 'name', concat('name', v), 'words', concat('word', v % 2)) FROM generate_series(1, 5) AS s(v);
CREATE INDEX lang ON t USING btree (meta.lang);
CREATE INDEX version ON t USING zonemap (meta.version);
CREATE INDEX kind ON t USING bitmap (meta.kind);
CREATE INDEX size ON t USING bloomfilter (meta.size);
CREATE INDEX name ON t USING ngram (meta.name);
CREATE INDEX words ON t USING fts (meta.words) WITH (stem = false, max_token_length = NULL);
INSERT INTO t SELECT v, named_struct('lang', concat('l', v % 2), 'version', v, 'kind', concat('k', v % 3), 'size', v, 'name', concat('name', v), 'words', concat('word', v % 2)) FROM generate_series(6, 9) AS s(v);
ALTER TABLE t REFRESH INDEXES;
INSERT INTO t SELECT v, named_struct('lang', 'l3', 'version', v, 'kind', concat('k', v % 3), 'size', v, 'name', concat('name', v), 'words', concat('word', v % 2)) FROM generate_series(10, 11) AS s(v);
ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 2);
SHOW INDEX SEGMENTS IN t;
-- oracle t lang: meta['lang'] = 'l1'
-- oracle t version: meta['version'] > 4
-- oracle t kind: meta['kind'] = 'k1'

-- Lance uses these three only for columns of the table itself; they are merged all the same.
-- oracle t: contains(meta['name'], 'name1')
-- oracle t: meta['size'] = 7
-- oracle t: meta['words'] = 'word1'
