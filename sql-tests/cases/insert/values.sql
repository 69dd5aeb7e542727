-- INSERT makes one fragment and one version; the count is the rows.
CREATE EXTERNAL TABLE t (id INT, name VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, NULL);
INSERT INTO t (name, id) VALUES ('d', 4);
INSERT INTO t (id) VALUES (5);
SELECT * FROM t ORDER BY id;
CREATE INDEX i ON t (id);
SHOW INDEX SEGMENTS IN t;
EXPLAIN INSERT INTO t VALUES (6, 'f');
