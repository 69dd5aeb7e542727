-- num_segments is over the unindexed fragments: three segments over seven of unequal size.
CREATE EXTERNAL TABLE t (id BIGINT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT value FROM generate_series(1, 50);
CREATE INDEX i ON t (id);
INSERT INTO t SELECT value FROM generate_series(101, 110);
INSERT INTO t SELECT value FROM generate_series(111, 130);
INSERT INTO t SELECT value FROM generate_series(131, 230);
INSERT INTO t SELECT value FROM generate_series(231, 231);
INSERT INTO t SELECT value FROM generate_series(232, 301);
INSERT INTO t SELECT value FROM generate_series(302, 361);
INSERT INTO t SELECT value FROM generate_series(362, 364);
EXPLAIN ALTER TABLE t REFRESH INDEX i WITH (num_segments = 3);
ALTER TABLE t REFRESH INDEX i WITH (num_segments = 3);
SHOW INDEX SEGMENTS IN t;

-- oracle t i: id = 231
-- oracle t i: id BETWEEN 40 AND 300

-- At most one for each fragment, and one where nothing is said.
INSERT INTO t VALUES (1000);
INSERT INTO t VALUES (1001);
ALTER TABLE t REFRESH INDEX i WITH (Num_Segments = 100);
INSERT INTO t VALUES (1002);
INSERT INTO t VALUES (1003);
ALTER TABLE t REFRESH INDEX i;
SHOW INDEX SEGMENTS IN t;

-- oracle t i: id >= 1000
