-- Only segments of equal parameters are merged.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1);
CREATE INDEX z ON t USING zonemap (id) WITH (rows_per_zone = 2048);
INSERT INTO t VALUES (2);
ALTER TABLE t REFRESH INDEX z;
ALTER TABLE t OPTIMIZE INDEX z WITH (target_rows_per_segment = 1000, merge_factor = 2);
SHOW INDEXES IN t;
-- oracle t z: id = 2
ALTER TABLE t OPTIMIZE INDEX z WITH (rows_per_zone = 2048);
