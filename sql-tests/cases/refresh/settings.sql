-- Settings say how work units run, not what comes of them.
SET lance_index.max_concurrent_units = 1;
SET lance_index.max_attempts = 5;
SET lance_index.attempt_timeout_secs = 60;
SET lance_index.commit_retries = 2;
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1);
INSERT INTO t VALUES (2);
CREATE INDEX i ON t (id) WITH (num_segments = 2);
SHOW INDEX SEGMENTS IN t;
INSERT INTO t VALUES (3);
ALTER TABLE t REFRESH INDEX i;

-- oracle t i: id > 1

-- Zero stands for the default.
SET lance_index.max_concurrent_units = 0;
SET lance_index.max_attempts = 0;
INSERT INTO t VALUES (4);
ALTER TABLE t REFRESH INDEX i;

-- oracle t i: id > 1

SET lance_index.nothing = 2;
SET lance_index.max_attempts = 'many';
