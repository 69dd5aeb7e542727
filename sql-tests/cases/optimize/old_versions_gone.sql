-- The versions that segments were built at are gone: a merge keeps their coverage all the same.
CREATE EXTERNAL TABLE t (id INT, s VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'a');
CREATE INDEX b ON t (id);
CREATE INDEX f ON t USING fts (s);
INSERT INTO t VALUES (2, 'b');
ALTER TABLE t REFRESH INDEXES;
INSERT INTO t VALUES (3, 'c');
ALTER TABLE t REFRESH INDEXES;
VACUUM TABLE t WITH (older_than = '0 seconds');
ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 3);
SHOW INDEX SEGMENTS IN t;
VACUUM TABLE t WITH (older_than = '0 seconds');
INSERT INTO t VALUES (4, 'd');
ALTER TABLE t REFRESH INDEXES;
ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 2);
SHOW INDEXES IN t;
-- oracle t b: id > 1
