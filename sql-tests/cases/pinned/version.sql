-- A table opened at a version shows what it was then, and can only be read.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1), (2);
CREATE INDEX i ON t (id);
INSERT INTO t VALUES (3);
CREATE EXTERNAL TABLE then STORED AS LANCE LOCATION '{dir}/t' OPTIONS (version '3');
SELECT count(*) FROM then;
SHOW INDEXES FROM then;
SHOW INDEXES FROM t;
INSERT INTO then VALUES (4);
DELETE FROM then;
UPDATE then SET id = 1;
CREATE INDEX j ON then (id);
ALTER TABLE then REFRESH INDEX i;
DROP INDEX i ON then;
SELECT count(*) FROM then WHERE id > 0;
SELECT count(*) FROM t WHERE id > 0;
