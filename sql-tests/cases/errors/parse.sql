-- C07: what can't be read; the error points at it and says what to write.
CREATE EXTERNAL TABLE t (id INT, n INT) STORED AS LANCE LOCATION '{dir}/t';
ALTER TABLE t REFRESH INDEX;
ALTER TABLE t REFRESH;
ALTER TABLE t REFRESH i;
ALTER TABLE t REFRESH INDEX WITH (num_segments = 1);
ALTER TABLE t REFRESH INDEX i num_segments = 1;
ALTER TABLE t REFRESH INDEX i WITH ();
ALTER TABLE t REFRESH INDEX i WITH (num_segments);
ALTER TABLE t REFRESH INDEX i WITH (num_segments = );
ALTER TABLE t REFRESH INDEX i WITH (num_segments = 1;
ALTER TABLE t REFRESH INDEX i, j;
REFRESH INDEX i ON t;
CREATE INDEX ON t (id);
CREATE INDEX i ON t;
CREATE INDEX i ON t ();
CREATE INDEX i ON t USING (id);
CREATE INDEX i ON t id;
DROP INDEX i;
DROP INDEX i, j ON t;
DROP INDEX i ON t CASCADE;
SHOW INDEXES;
SHOW INDEXES t;
SHOW INDEX SEGMENTS;
SHOW INDEXES IN t LIKE 'x';

-- Clauses of other databases.
CREATE UNIQUE INDEX i ON t (id);
CREATE INDEX CONCURRENTLY i ON t (id);
CREATE INDEX i ON t (id, n);
CREATE INDEX i ON t (id DESC);
CREATE INDEX i ON t (lower(id));
CREATE INDEX i ON t (id) INCLUDE (n);
CREATE INDEX i ON t (id) WHERE id > 5;

-- Other statements are read by DataFusion, and so are their errors.
SELEC 1;
SELECT FROM WHERE;
CREATE EXTERNAL TABLE;
ALTER TABLE t ADD COLUMN x INT;

-- After all of these, what is right still runs.
SHOW INDEXES IN t;
