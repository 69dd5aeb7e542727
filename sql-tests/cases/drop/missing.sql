-- An index that isn't there is an error, unless IF EXISTS says that this is all right.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1);
DROP INDEX nothing ON t;
ALTER TABLE t DROP INDEX nothing;
CREATE INDEX something ON t (id);
DROP INDEX somethin ON t;
DROP INDEX IF EXISTS nothing ON t;
ALTER TABLE t DROP INDEX IF EXISTS nothing;
EXPLAIN DROP INDEX IF EXISTS nothing ON t;
DROP INDEX IF EXISTS something ON t;
DROP INDEX IF EXISTS something ON t;

-- The table has to be there.
DROP INDEX IF EXISTS something ON missing;
DROP INDEX something;
