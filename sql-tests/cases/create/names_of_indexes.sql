-- The names of indexes follow the same rules as those of columns.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1);
CREATE INDEX "Upper" ON t (id);
CREATE INDEX Folded ON t (id);
SHOW INDEXES IN t;
ALTER TABLE t REFRESH INDEX upper;
ALTER TABLE t REFRESH INDEX FOLDED;
ALTER TABLE t REFRESH INDEX "folded";

-- Two that differ only in case: each is found by its exact name, no other name finds one.
CREATE INDEX upper ON t (id);
ALTER TABLE t REFRESH INDEX Upper;
ALTER TABLE t REFRESH INDEX "Upper";
ALTER TABLE t REFRESH INDEX "UPPER";
DROP INDEX "UPPER" ON t;
DROP INDEX "Upper" ON t;
SHOW INDEXES IN t;

-- Words of the grammar, quoted.
CREATE INDEX "index" ON t (id);
ALTER TABLE t REFRESH INDEX "index";
DROP INDEX "index" ON t;
