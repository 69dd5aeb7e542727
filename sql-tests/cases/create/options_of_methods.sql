-- Options that a method takes. SHOW has those that Lance keeps in the manifest.
CREATE EXTERNAL TABLE t (id INT, text VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'first text'), (2, 'second text'), (3, NULL);
CREATE INDEX btree_i ON t USING btree (id) WITH (zone_size = 2);
CREATE INDEX zonemap_i ON t USING zonemap (id) WITH (rows_per_zone = 2);
CREATE INDEX bloomfilter_i ON t USING bloomfilter (id) WITH (number_of_items = 100, probability = 0.01);
CREATE INDEX fts_i ON t USING fts (text)
WITH (base_tokenizer = whitespace, language = 'English', with_position = true, stem = false, max_token_length = 40);
SHOW INDEXES IN t;

-- oracle t: id = 2
