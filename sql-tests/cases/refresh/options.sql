-- REFRESH keeps the parameters that an index was built with. It takes them as options only to say
-- what they are; one that differs is refused before anything is done.
CREATE EXTERNAL TABLE t (id INT, text VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'first text'), (2, 'second text');
CREATE INDEX zones ON t USING zonemap (id) WITH (rows_per_zone = 2);
CREATE INDEX words ON t USING fts (text) WITH (stem = false, with_position = true);
CREATE INDEX bloom ON t USING bloomfilter (id) WITH (number_of_items = 100, probability = 0.01);
CREATE INDEX tree ON t USING btree (id) WITH (zone_size = 2);
INSERT INTO t VALUES (3, 'third text');
ALTER TABLE t REFRESH INDEX zones WITH (rows_per_zone = 4);
ALTER TABLE t REFRESH INDEX bloom WITH (number_of_items = 100, probability = 0.02);
ALTER TABLE t REFRESH INDEX tree WITH (zone_size = 3);

-- C33: full-text settings.
ALTER TABLE t REFRESH INDEX words WITH (stem = true);
ALTER TABLE t REFRESH INDEX words WITH (language = 'German');
ALTER TABLE t REFRESH INDEX words WITH (base_tokenizer = 'simple', stem = true);

-- Nothing has been done.
SHOW INDEXES IN t;

ALTER TABLE t REFRESH INDEX zones WITH (rows_per_zone = 2);
ALTER TABLE t REFRESH INDEX bloom WITH (number_of_items = 100, probability = 0.01);
ALTER TABLE t REFRESH INDEX tree WITH (zone_size = 2);
ALTER TABLE t REFRESH INDEX words WITH (stem = false, with_position = true);
SHOW INDEXES IN t;

-- oracle t zones: id >= 2
