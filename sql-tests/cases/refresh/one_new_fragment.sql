-- C24: REFRESH indexes what was appended since; the segment that was there stays as it is.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1), (2), (3);
CREATE INDEX i ON t (id);
SHOW INDEX SEGMENTS IN t;
INSERT INTO t VALUES (2), (4);
SHOW INDEXES IN t;

-- oracle t i: id = 2

ALTER TABLE t REFRESH INDEX i;
SHOW INDEXES IN t;
SHOW INDEX SEGMENTS IN t;

-- oracle t i: id = 2
-- oracle t i: id > 2
