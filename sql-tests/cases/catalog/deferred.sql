-- C19: an index that is recorded first is built with the parameters that it was recorded with.
CREATE EXTERNAL TABLE t (id INT, kind VARCHAR, txt VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
CREATE INDEX by_id ON t USING zonemap (id) WITH (rows_per_zone = 2048);
CREATE INDEX by_txt ON t USING fts (txt) WITH (stem = false, lower_case = false);
INSERT INTO t SELECT value, concat('k', value % 4), 'running Far' FROM generate_series(0, 99);
CREATE INDEX by_kind ON t USING bloomfilter (kind) WITH (train = false, number_of_items = 77);
CREATE INDEX later ON t USING btree (id) WITH (train = false, zone_size = 64);
SHOW INDEXES FROM t;
ALTER TABLE t REFRESH INDEXES;
SHOW INDEXES FROM t;
-- oracle t by_id: id = 7
-- oracle t by_kind: kind = 'k1'

ALTER TABLE t REFRESH INDEX by_id WITH (rows_per_zone = 2048);
ALTER TABLE t REFRESH INDEX by_id WITH (rows_per_zone = 2049);
ALTER TABLE t REFRESH INDEX by_kind WITH (number_of_items = 77, probability = 0.5);
ALTER TABLE t REFRESH INDEX later WITH (zone_size = 64);
ALTER TABLE t REFRESH INDEX by_txt WITH (stem = false, lower_case = true);
SELECT count(*) FROM lance_fts('t', 'txt', 'Far');
SELECT count(*) FROM lance_fts('t', 'txt', 'run');
