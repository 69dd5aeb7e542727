-- What DELETE and UPDATE don't do is an error, and leaves the table as it was.
CREATE EXTERNAL TABLE t (id INT, x INT) STORED AS LANCE LOCATION '{dir}/t';
CREATE EXTERNAL TABLE s (id INT, x INT) STORED AS LANCE LOCATION '{dir}/s';
INSERT INTO t VALUES (1, 10), (2, 20), (3, 30);
INSERT INTO s VALUES (1, 100);
DELETE FROM t LIMIT 1;
DELETE FROM t WHERE missing = 1;
DELETE FROM t WHERE id = 'one';
DELETE FROM t WHERE count(*) > 1;
DELETE FROM t WHERE row_number() OVER () > 1;
DELETE FROM missing;
UPDATE t SET x = s.x FROM s WHERE t.id = s.id;
UPDATE t SET missing = 1;
UPDATE t SET x = sum(id);
UPDATE t SET x = (SELECT id FROM t);
UPDATE t SET x = 'one';
UPDATE t SET x = 1 / (id - 2);
REPLACE INTO t VALUES (1, 2);
SELECT * FROM t ORDER BY id;
