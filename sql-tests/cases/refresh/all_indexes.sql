-- REFRESH INDEXES answers a row for each index of the table.
CREATE EXTERNAL TABLE t (id INT, n INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 1), (2, 2);
CREATE INDEX ready ON t (id);
CREATE INDEX due ON t USING bitmap (n);
INSERT INTO t VALUES (3, 3);
ALTER TABLE t REFRESH INDEX ready;
CREATE INDEX unbuilt ON t USING zonemap (n) WITH (train = false);
SHOW INDEXES IN t;
ALTER TABLE t REFRESH INDEXES WITH (num_segments = 2);
SHOW INDEXES IN t;

-- oracle t due: n = 3
-- oracle t ready: id = 3

-- An option has to be one of every index.
ALTER TABLE t REFRESH INDEXES WITH (rows_per_zone = 2);
