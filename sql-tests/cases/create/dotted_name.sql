-- A quoted name with a dot is one name, and no path.
CREATE EXTERNAL TABLE t (id INT, meta STRUCT<"a.b" INT, a STRUCT<b INT>>) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, {'a.b': 10, a: {b: 20}});
CREATE INDEX name ON t (meta."a.b");
CREATE INDEX path ON t (meta.a.b);
CREATE INDEX wrong ON t ("meta.a.b");
SHOW INDEXES IN t;
EXPLAIN CREATE INDEX other ON t (meta."a.b");

-- oracle t: meta."a.b" = 10
-- oracle t path: meta.a.b = 20
