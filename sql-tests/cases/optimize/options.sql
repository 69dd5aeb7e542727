-- Options that can't be, or not together: an error that points at one, and nothing is done.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1);
CREATE INDEX i ON t (id);
INSERT INTO t VALUES (2);
ALTER TABLE t OPTIMIZE INDEX i WITH (merge_factor = 4);
ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 10, merge_factor = 0);
ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 10, merge_factor = 1);
ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 10, merge_factor = 1001);
ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 10, merge_facter = 4);
ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 0);
ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = -1);
ALTER TABLE t OPTIMIZE INDEX i WITH (target_bytes_per_segment = NULL);
ALTER TABLE t OPTIMIZE INDEX i WITH (target_bytes_per_segment = 18446744073709551616);
ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 1.5);
ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 10, num_indices_to_merge = 2);
ALTER TABLE t OPTIMIZE INDEX i WITH (num_indices_to_merge = 2, merge_factor = 2);
ALTER TABLE t OPTIMIZE INDEX i WITH (num_indices_to_merge = -1);
ALTER TABLE t OPTIMIZE INDEX i WITH (retrain = true);
ALTER TABLE t OPTIMIZE INDEX i WITH (num_indices_to_merge = 1, retrain = true);
ALTER TABLE t OPTIMIZE INDEX i WITH (num_segments = 2);
ALTER TABLE t OPTIMIZE INDEX i WITH (merge_factor = 2, MERGE_FACTOR = 3);
ALTER TABLE t OPTIMIZE INDEX j;
ALTER TABLE t OPTIMIZE INDEX __lance_frag_reuse;
ALTER TABLE t OPTIMIZE;
SHOW INDEXES IN t;
-- Any case, and both targets.
ALTER TABLE t OPTIMIZE INDEX I WITH (Target_Rows_Per_Segment = 10, TARGET_BYTES_PER_SEGMENT = 9223372036854775807, Merge_Factor = 1000);
