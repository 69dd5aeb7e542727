-- An existing name is an error, unless the statement says what to do about it.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1), (2), (3);
CREATE INDEX id_idx ON t (id);
CREATE INDEX id_idx ON t (id);
CREATE INDEX ID_IDX ON t USING bitmap (id);

-- IF NOT EXISTS leaves what is there: the version stays.
CREATE INDEX IF NOT EXISTS id_idx ON t USING bitmap (id);
ALTER TABLE t CREATE INDEX IF NOT EXISTS id_idx USING bitmap (id);
SHOW INDEXES IN t;
CREATE INDEX IF NOT EXISTS other ON t USING bitmap (id);

-- The statement has to be right nevertheless.
CREATE INDEX IF NOT EXISTS id_idx ON t (nothing);
CREATE INDEX IF NOT EXISTS id_idx ON t USING gin (id);

CREATE OR REPLACE INDEX IF NOT EXISTS id_idx ON t (id);
SHOW INDEX SEGMENTS IN t;
