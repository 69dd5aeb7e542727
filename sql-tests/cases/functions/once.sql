-- A query acts once, to the end, however its plan has the call; the version tells how often.
CREATE EXTERNAL TABLE t (id INT, n INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 1), (2, 2), (3, 3);
CREATE VIEW again AS SELECT * FROM lance_create_index('t', 'i', 'id', 'or_replace=true');
SELECT version FROM again;
SELECT version FROM again LIMIT 1;
WITH c AS (SELECT version FROM again) SELECT * FROM c UNION ALL SELECT * FROM c;
SELECT a.version, b.version, count(*) FROM again a CROSS JOIN again b CROSS JOIN t GROUP BY 1, 2;
SELECT count(*) FROM again;
SELECT id FROM t WHERE id = (SELECT segments_added FROM again);
WITH RECURSIVE r AS (SELECT 0 AS v UNION ALL SELECT version FROM again, r WHERE v = 0) SELECT * FROM r;
-- Not at all where it is only planned, or the answer is known without it.
EXPLAIN SELECT version FROM again;
SELECT version FROM again LIMIT 0;
SELECT version FROM again WHERE false;
SELECT version FROM again;
-- A limit bounds the rows that are answered: both indexes are refreshed.
CREATE INDEX j ON t (n);
INSERT INTO t VALUES (4, 4);
SELECT index_name FROM lance_refresh_indexes('t') LIMIT 1;
SELECT name, state FROM lance_indexes('t');

-- oracle t i: id = 4
-- oracle t j: n = 4
