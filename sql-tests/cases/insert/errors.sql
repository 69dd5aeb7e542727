-- What INSERT can't do leaves the table as it was.
CREATE EXTERNAL TABLE t (id INT NOT NULL, name VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'a');
INSERT INTO t VALUES ('x', 'b');
INSERT INTO t VALUES (2);
INSERT INTO t VALUES (NULL, 'b');
INSERT INTO t (name) VALUES ('b');
INSERT INTO t (nothing) VALUES (1);
INSERT INTO t SELECT 1 / (value - 3), 'c' FROM generate_series(1, 5);
SELECT * FROM t ORDER BY id;
