-- What this version reads and can't do yet.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1);
CREATE INDEX i ON t (id);
SHOW CREATE INDEX i ON t;
ALTER TABLE t ALTER INDEX i SET (merge_factor = 4);
ALTER TABLE t ALTER INDEX i RESET (merge_factor);
EXPLAIN SHOW CREATE INDEX i ON t;

-- Nothing has been done.
SHOW INDEX SEGMENTS IN t;
SELECT * FROM t;
