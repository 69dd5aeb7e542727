-- What this version reads and can't do yet.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1);
CREATE INDEX i ON t (id);
ALTER TABLE t OPTIMIZE INDEX i;
ALTER TABLE t OPTIMIZE INDEXES WITH (merge_factor = 4);
SHOW CREATE INDEX i ON t;
ALTER TABLE t ALTER INDEX i SET (merge_factor = 4);
ALTER TABLE t ALTER INDEX i RESET (merge_factor);
OPTIMIZE TABLE t;
OPTIMIZE TABLE t WITH (target_rows_per_fragment = 100);
VACUUM TABLE t;
VACUUM TABLE t WITH (older_than = '7 days', delete_unverified = false);
EXPLAIN ALTER TABLE t OPTIMIZE INDEX i;

-- Nothing has been done.
SHOW INDEX SEGMENTS IN t;
SELECT * FROM t;
