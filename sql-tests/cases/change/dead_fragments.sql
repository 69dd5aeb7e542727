-- A fragment whose rows are all deleted is counted nowhere, and no segment claims it.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT value FROM generate_series(0, 9);
INSERT INTO t SELECT value FROM generate_series(10, 19);
CREATE INDEX i ON t (id);
DELETE FROM t WHERE id < 10;
SHOW INDEXES FROM t;
SHOW INDEX SEGMENTS FROM t;
INSERT INTO t SELECT value FROM generate_series(20, 29);
ALTER TABLE t REFRESH INDEX i;
SHOW INDEXES FROM t;
SHOW INDEX SEGMENTS FROM t;
-- oracle t i: id < 25
