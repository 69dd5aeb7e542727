-- C16: a table may be at a path with a space, a quote and letters of any alphabet.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/it''s a täble';
INSERT INTO t VALUES (1), (2), (3);
CREATE INDEX i ON t (id);
INSERT INTO t VALUES (2);
ALTER TABLE t REFRESH INDEX i;

-- oracle t i: id = 2

SHOW INDEX SEGMENTS IN t;

-- The same table under another name has the same indexes.
CREATE EXTERNAL TABLE other STORED AS LANCE LOCATION '{dir}/it''s a täble';
SHOW INDEXES IN other;
DROP INDEX i ON other;
SHOW INDEXES IN t;

-- A table has to be there, or has to be given columns; both is an error.
CREATE EXTERNAL TABLE missing STORED AS LANCE LOCATION '{dir}/missing';
CREATE EXTERNAL TABLE again (id INT) STORED AS LANCE LOCATION '{dir}/it''s a täble';

-- The name of a table may have several parts and quotes.
CREATE SCHEMA s;
CREATE EXTERNAL TABLE s."My Table" STORED AS LANCE LOCATION '{dir}/it''s a täble';
CREATE INDEX i ON s."My Table" (id);
SHOW INDEXES IN datafusion.s."My Table";
ALTER TABLE s."My Table" REFRESH INDEXES;
