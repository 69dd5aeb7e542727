-- C26: indexed_percent is never 100 while a row is missing.
CREATE EXTERNAL TABLE t (id BIGINT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT value FROM generate_series(1, 9999);
CREATE INDEX i ON t (id);
INSERT INTO t VALUES (10000);
SHOW INDEXES IN t;

-- oracle t i: id >= 9999

INSERT INTO t SELECT value FROM generate_series(1, 20001);
SHOW INDEXES IN t;
ALTER TABLE t REFRESH INDEX i;
SHOW INDEXES IN t;

-- oracle t i: id >= 9999
