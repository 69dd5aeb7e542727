-- INSERT from a query, from the table itself too.
CREATE EXTERNAL TABLE t (id BIGINT, name VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT value, concat('n', value) FROM generate_series(1, 5);
CREATE INDEX i ON t (id);
INSERT INTO t SELECT id + 10, name FROM t WHERE id > 2;
ALTER TABLE t REFRESH INDEX i;
SELECT * FROM t ORDER BY id;

-- oracle t i: id > 3

INSERT INTO t SELECT a.id, b.name FROM t AS a JOIN t AS b ON a.id = b.id + 10;
ALTER TABLE t REFRESH INDEX i;

-- oracle t i: id > 3
