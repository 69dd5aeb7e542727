-- C09: an option is given once, whatever its case.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
CREATE INDEX i ON t (id) WITH (num_segments = 1, num_segments = 1);
CREATE INDEX i ON t (id) WITH (num_segments = 1, NUM_SEGMENTS = 2);
CREATE INDEX i ON t USING zonemap (id) WITH (rows_per_zone = 1, train = true, "Rows_Per_Zone" = 2);
ALTER TABLE t REFRESH INDEX i WITH (num_segments = 1, Num_Segments = 2);
