-- C23: where all is indexed, REFRESH changes nothing: the same segment, the same version.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1);
CREATE INDEX i ON t (id);
SHOW INDEX SEGMENTS IN t;
ALTER TABLE t REFRESH INDEX i;
ALTER TABLE t REFRESH INDEX i WITH (num_segments = 8);
ALTER TABLE t REFRESH INDEXES;
SHOW INDEX SEGMENTS IN t;

-- A table without indexes has nothing to refresh.
CREATE EXTERNAL TABLE bare (id INT) STORED AS LANCE LOCATION '{dir}/bare';
ALTER TABLE bare REFRESH INDEXES;
ALTER TABLE bare REFRESH INDEXES WITH (num_segments = 8);
