-- C01, C19: with train = false an index is recorded and nothing is built; REFRESH builds it, with
-- the parameters that it was created with.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1), (2), (3);
CREATE INDEX i ON t USING zonemap (id) WITH (TRAIN = false, rows_per_zone = 2048);
SHOW INDEXES IN t;
SHOW INDEX SEGMENTS IN t;

-- oracle t: id = 2

ALTER TABLE t REFRESH INDEX i;
SHOW INDEXES IN t;
SHOW INDEX SEGMENTS IN t;

-- oracle t i: id = 2
