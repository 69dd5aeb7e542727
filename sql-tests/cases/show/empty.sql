-- C21: a table without indexes has no rows to show; on an empty table indexed_percent is NULL.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
SHOW INDEXES IN t;
SHOW INDEX SEGMENTS IN t;
INSERT INTO t VALUES (1);
SHOW INDEXES IN t;

CREATE EXTERNAL TABLE empty (id INT) STORED AS LANCE LOCATION '{dir}/empty';
CREATE INDEX i ON empty (id);
SHOW INDEXES IN empty;
SHOW INDEX SEGMENTS IN empty;
