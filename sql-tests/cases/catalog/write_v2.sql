-- Without records, an index is what its segments are.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1), (2);
SHOW lance_index.write_v2;
SET lance_index.write_v2 = off;
SET lance_index.write_v2 = false;
CREATE INDEX i ON t USING zonemap (id) WITH (rows_per_zone = 32);
SHOW CREATE INDEX i ON t;
INSERT INTO t VALUES (3);
ALTER TABLE t REFRESH INDEX i;
SHOW INDEXES FROM t;
-- A refresh that finds something to do writes the record; one that doesn't, doesn't.
SET lance_index.write_v2 = true;
ALTER TABLE t REFRESH INDEX i;
SHOW INDEXES FROM t;
INSERT INTO t VALUES (4);
ALTER TABLE t REFRESH INDEX i;
SHOW INDEXES FROM t;
-- oracle t i: id = 3
-- Replaced by its like, an index stays the same, and the record is not written again.
CREATE OR REPLACE INDEX i ON t USING zonemap (id) WITH (rows_per_zone = 32);
CREATE OR REPLACE INDEX i ON t USING zonemap (id) WITH (rows_per_zone = 33);
SHOW INDEXES FROM t;
SET lance_index.write_v2 = false;
CREATE OR REPLACE INDEX i ON t USING zonemap (id) WITH (rows_per_zone = 34);
SHOW INDEXES FROM t;
DROP INDEX i ON t;
