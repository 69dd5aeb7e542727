-- A leaf of a struct.
CREATE EXTERNAL TABLE t (id INT, meta STRUCT<lang VARCHAR, version INT>) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT v, named_struct('lang', concat('l', v % 2), 'version', v) FROM generate_series(1, 5) AS s(v);
CREATE INDEX lang ON t USING btree (meta.lang);
CREATE INDEX version ON t USING zonemap (meta.version);
INSERT INTO t SELECT v, named_struct('lang', concat('l', v % 2), 'version', v) FROM generate_series(6, 9) AS s(v);
ALTER TABLE t REFRESH INDEXES;
INSERT INTO t SELECT v, named_struct('lang', 'l3', 'version', v) FROM generate_series(10, 11) AS s(v);
ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 2);
SHOW INDEX SEGMENTS IN t;
-- oracle t lang: meta['lang'] = 'l1'
-- oracle t version: meta['version'] > 4
