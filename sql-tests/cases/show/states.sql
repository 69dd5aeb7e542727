-- The state of an index says what it needs.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1), (2), (3);
CREATE INDEX unbuilt ON t (id) WITH (train = false);
CREATE INDEX refresh_due ON t (id);
INSERT INTO t VALUES (4);
CREATE INDEX ready ON t (id);
SHOW INDEXES IN t;
SHOW INDEX SEGMENTS IN t;
