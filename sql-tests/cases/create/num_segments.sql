-- num_segments segments are built in parallel, each over neighbouring fragments, so that the
-- largest has as few rows as can be. Seven fragments of unequal size.
CREATE EXTERNAL TABLE t (id BIGINT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT value FROM generate_series(1, 100);
INSERT INTO t SELECT value FROM generate_series(101, 110);
INSERT INTO t SELECT value FROM generate_series(111, 130);
INSERT INTO t SELECT value FROM generate_series(131, 230);
INSERT INTO t SELECT value FROM generate_series(231, 231);
INSERT INTO t SELECT value FROM generate_series(232, 301);
INSERT INTO t SELECT value FROM generate_series(302, 361);
CREATE INDEX three ON t (id) WITH (num_segments = 3);
SHOW INDEX SEGMENTS IN t;

-- oracle t three: id = 231
-- oracle t three: id BETWEEN 95 AND 235

-- Without the option, few rows make one segment.
CREATE INDEX one ON t (id);

-- There are at most as many as there are fragments.
CREATE INDEX seven ON t (id) WITH (num_segments = 100);
SHOW INDEX SEGMENTS IN t INDEX seven;
