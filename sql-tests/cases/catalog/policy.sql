-- The maintenance policy is stored with the index; build parameters are not a part of it.
CREATE EXTERNAL TABLE t (id INT, kind VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT value, concat('k', value % 4) FROM generate_series(0, 99);
CREATE INDEX i ON t USING zonemap (id) WITH (rows_per_zone = 32);
EXPLAIN ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 1000);
ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 1000, merge_factor = 4);
SHOW CREATE INDEX i ON t;
-- Equal to what is there: no version.
ALTER TABLE t ALTER INDEX i SET (merge_factor = 4);
ALTER TABLE t ALTER INDEX i SET (target_bytes_per_segment = 268435456);
ALTER TABLE t ALTER INDEX i RESET (merge_factor, target_rows_per_segment);
ALTER TABLE t ALTER INDEX i RESET (merge_factor);
SHOW CREATE INDEX i ON t;

-- It outlives a replacement of the index, and goes with a drop.
CREATE OR REPLACE INDEX i ON t (id);
SHOW CREATE INDEX i ON t;
DROP INDEX i ON t;
CREATE INDEX i ON t (id);
SHOW CREATE INDEX i ON t;

-- What is no policy.
ALTER TABLE t ALTER INDEX i SET (merge_factor = 4);
ALTER TABLE t ALTER INDEX i SET (merge_factor = 1, target_rows_per_segment = 10);
ALTER TABLE t ALTER INDEX i SET (merge_factor = 1001, target_rows_per_segment = 10);
ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 0);
ALTER TABLE t ALTER INDEX i SET (target_bytes_per_segment = NULL);
ALTER TABLE t ALTER INDEX i SET (target_bytes_per_segment = 9223372036854775808);
ALTER TABLE t ALTER INDEX i SET (target_row_per_segment = 10);
ALTER TABLE t ALTER INDEX i SET (zone_size = 10);
ALTER TABLE t ALTER INDEX i RESET (rows_per_zone);
ALTER TABLE t ALTER INDEX i RESET (everything);
ALTER TABLE t ALTER INDEX nothing SET (target_rows_per_segment = 10);
ALTER TABLE t ALTER INDEX i SET (target_rows_per_segment = 10, merge_factor = 4);
ALTER TABLE t ALTER INDEX i RESET (target_rows_per_segment);
SHOW CREATE INDEX i ON t;
