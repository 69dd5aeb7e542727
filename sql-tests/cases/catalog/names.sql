-- Names of any characters.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1), (2);
CREATE INDEX "a/b" ON t (id);
CREATE INDEX "lance_index.v2/x" ON t (id);
CREATE INDEX "größe 🗺" ON t (id);
CREATE INDEX "it's" ON t (id);
ALTER TABLE t ALTER INDEX "a/b" SET (target_rows_per_segment = 10);
SHOW CREATE INDEX "a/b" ON t;
SHOW CREATE INDEX "lance_index.v2/x" ON t;
SHOW CREATE INDEX "größe 🗺" ON t;
SHOW CREATE INDEX "it's" ON t;
SELECT name, state, source FROM lance_indexes('t') ORDER BY name;
DROP INDEX "größe 🗺" ON t;
DROP INDEX "it's" ON t;
DROP INDEX "lance_index.v2/x" ON t;
DROP INDEX "a/b" ON t;
SHOW INDEXES FROM t;
