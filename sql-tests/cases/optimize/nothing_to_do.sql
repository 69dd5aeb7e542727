-- Where there is nothing to do, nothing is done: the same segment, the same version.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1);
CREATE INDEX i ON t (id);
SHOW INDEX SEGMENTS IN t;
ALTER TABLE t OPTIMIZE INDEX i;
ALTER TABLE t OPTIMIZE INDEX i WITH (target_rows_per_segment = 1);
ALTER TABLE t OPTIMIZE INDEX i WITH (num_indices_to_merge = 3);
ALTER TABLE t REFRESH INDEX i;
SHOW INDEX SEGMENTS IN t;

-- On an empty table, and on one without indexes.
CREATE EXTERNAL TABLE e (id INT) STORED AS LANCE LOCATION '{dir}/e';
ALTER TABLE e OPTIMIZE INDEXES;
CREATE INDEX i ON e (id);
ALTER TABLE e OPTIMIZE INDEX i;
ALTER TABLE e OPTIMIZE INDEX i WITH (num_indices_to_merge = 1);
