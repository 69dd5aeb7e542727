-- C19: every method keeps its parameters until REFRESH builds the index.
CREATE EXTERNAL TABLE t (id INT, text VARCHAR, tags VARCHAR[]) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'first text', ['a']), (2, 'second text', ['a', 'b']), (3, NULL, NULL);
CREATE INDEX btree_i ON t USING btree (id) WITH (train = false, zone_size = 2);
CREATE INDEX bitmap_i ON t USING bitmap (id) WITH (train = false);
CREATE INDEX label_list_i ON t USING label_list (tags) WITH (train = false);
CREATE INDEX ngram_i ON t USING ngram (text) WITH (train = false);
CREATE INDEX zonemap_i ON t USING zonemap (id) WITH (train = false, rows_per_zone = 2);
CREATE INDEX bloomfilter_i ON t USING bloomfilter (id) WITH (train = false, number_of_items = 100, probability = 0.01);
CREATE INDEX fts_i ON t USING fts (text) WITH (train = false, stem = false);
CREATE INDEX fm_i ON t USING fm (text) WITH (train = false);
SHOW INDEXES IN t;
ALTER TABLE t REFRESH INDEXES;
SHOW INDEXES IN t;

-- An index that has these parameters takes them, and no others.
ALTER TABLE t REFRESH INDEX btree_i WITH (zone_size = 2);
ALTER TABLE t REFRESH INDEX btree_i WITH (zone_size = 4096);
ALTER TABLE t REFRESH INDEX bloomfilter_i WITH (number_of_items = 100, probability = 0.01);
ALTER TABLE t REFRESH INDEX zonemap_i WITH (rows_per_zone = 2);
ALTER TABLE t REFRESH INDEX fts_i WITH (stem = false);
