-- C03: an option that there isn't; the error points at it and says which one may be meant.
CREATE EXTERNAL TABLE t (id INT, text VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'a');
CREATE INDEX i ON t (id) WITH (rows_per_range = 5);
CREATE INDEX i ON t (id) WITH (num_segment = 5);
CREATE INDEX i ON t (id) WITH (
  num_segments = 1,
  trian = false
);
CREATE INDEX i ON t USING zonemap (id) WITH (rows_per_zon = 5);
CREATE INDEX i ON t USING fts (text) WITH (steming = true);

-- Options of another method, or of another statement.
CREATE INDEX i ON t USING btree (id) WITH (rows_per_zone = 5);
CREATE INDEX i ON t USING btree (id) WITH (merge_factor = 5);
CREATE INDEX i ON t (id);
ALTER TABLE t REFRESH INDEX i WITH (merge_facter = 4);
ALTER TABLE t REFRESH INDEX i WITH (train = true);
ALTER TABLE t REFRESH INDEXES WITH (num_segmnts = 4);
