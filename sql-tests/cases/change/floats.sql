-- A change is about the rows that a SELECT finds, also where zeros have signs and there are numbers that
-- are none.
CREATE EXTERNAL TABLE t (id BIGINT, x DOUBLE, g STRUCT<y DOUBLE>) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 0.0, {y: 0.0}), (2, -0.0, {y: -0.0}), (3, 1.0, {y: 1.0}), (4, 'NaN', {y: 'NaN'}), (5, NULL, NULL);
CREATE INDEX by_x ON t (x);
SELECT count(*) FROM t WHERE x = 0;
UPDATE t SET id = id + 10 WHERE x = 0;
SELECT count(*) FROM t WHERE g.y <= 0.0;
UPDATE t SET id = id + 10 WHERE g.y <= 0.0;
SELECT count(*) FROM t WHERE x > 1;
UPDATE t SET id = id + 10 WHERE x > 1;
SELECT count(*) FROM t WHERE id * -0.0 = 0.0 AND id > 20;
DELETE FROM t WHERE id * -0.0 = 0.0 AND id > 20;
SELECT id, x FROM t ORDER BY id;
