-- Indexes that aren't there; the nearest name is suggested.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1);
ALTER TABLE t REFRESH INDEX id_idx;
CREATE INDEX id_idx ON t (id);
ALTER TABLE t REFRESH INDEX id_ix;
ALTER TABLE t REFRESH INDEX something_else;
SHOW INDEX SEGMENTS IN t INDEX id_idxs;
DROP INDEX idx_id ON t;
