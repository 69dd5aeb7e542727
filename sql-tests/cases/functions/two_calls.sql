-- Calls with other arguments are other tables, also where DataFusion looks for subqueries that are the
-- same.
CREATE EXTERNAL TABLE t (id BIGINT, s VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
CREATE EXTERNAL TABLE u (id BIGINT) STORED AS LANCE LOCATION '{dir}/u';
INSERT INTO t VALUES (1, 'red'), (2, 'dog'), (3, 'cat'), (4, 'red cat');
INSERT INTO u VALUES (1);
CREATE INDEX i ON t USING fts (s);
CREATE INDEX j ON u (id) WITH (train = false);
CREATE INDEX k ON t (id) WITH (train = false);
SELECT id FROM t
WHERE id IN (SELECT id FROM lance_fts('t', 's', 'cat')) AND id IN (SELECT id FROM lance_fts('t', 's', 'red'));
SELECT (SELECT count(*) FROM lance_fts('t', 's', 'dog')) AS dogs,
    (SELECT count(*) FROM lance_fts('t', 's', 'red')) AS red;
SELECT (SELECT count(*) FROM lance_refresh_indexes('t')) AS of_t,
    (SELECT count(*) FROM lance_refresh_indexes('u')) AS of_u;
SELECT name, state FROM lance_indexes('t') UNION ALL SELECT name, state FROM lance_indexes('u') ORDER BY 1;
DELETE FROM t
WHERE id IN (SELECT id FROM lance_fts('t', 's', 'red')) OR id IN (SELECT id FROM lance_fts('t', 's', 'dog'));
SELECT * FROM t;
