-- C27: Lance's own indexes can't be named.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1);
CREATE INDEX __lance_frag_reuse ON t (id);
CREATE OR REPLACE INDEX "__lance_mem_wal" ON t (id);
CREATE INDEX __LANCE_other ON t (id);
ALTER TABLE t REFRESH INDEX __lance_frag_reuse;
DROP INDEX __lance_frag_reuse ON t;
ALTER TABLE t DROP INDEX IF EXISTS __lance_frag_reuse;
SHOW INDEX SEGMENTS IN t INDEX __lance_frag_reuse;
