-- DROP INDEX removes all segments of an index, and leaves the others. It has two spellings.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1), (2);
INSERT INTO t VALUES (3);
CREATE INDEX a ON t (id) WITH (num_segments = 2);
CREATE INDEX b ON t USING bitmap (id);
CREATE INDEX c ON t USING zonemap (id);
DROP INDEX a ON t;
SHOW INDEXES IN t;

-- oracle t b: id = 2

ALTER TABLE t DROP INDEX B;
SHOW INDEXES IN t;
DROP INDEX c ON t;
SHOW INDEXES IN t;

-- oracle t: id = 2

-- The name is free again.
CREATE INDEX a ON t USING bitmap (id);
SHOW INDEXES IN t;
