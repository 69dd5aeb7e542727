-- C14: OR REPLACE builds an index anew, in one commit; also of another method, on another column.
CREATE EXTERNAL TABLE t (id INT, n INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
CREATE INDEX id_idx ON t (id);
ALTER TABLE t REFRESH INDEX id_idx;
INSERT INTO t VALUES (2, 40);
SHOW INDEX SEGMENTS IN t;
EXPLAIN CREATE OR REPLACE INDEX id_idx ON t (id);
CREATE OR REPLACE INDEX id_idx ON t (id);
SHOW INDEX SEGMENTS IN t;

-- oracle t id_idx: id = 2

CREATE OR REPLACE INDEX id_idx ON t USING zonemap (id) WITH (rows_per_zone = 2, num_segments = 2);
SHOW INDEXES IN t;

-- oracle t id_idx: id = 2

ALTER TABLE t CREATE OR REPLACE INDEX id_idx USING bitmap (n);
SHOW INDEXES IN t;

-- oracle t id_idx: n = 20
-- oracle t: id = 2

-- Where there is nothing to replace, it creates.
CREATE OR REPLACE INDEX new_idx ON t (id) WITH (train = false);
SHOW INDEXES IN t;
