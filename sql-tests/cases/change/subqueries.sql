-- The rows of a DELETE or UPDATE are those that a SELECT finds, whatever it takes to find them.
CREATE EXTERNAL TABLE t (id INT, x INT) STORED AS LANCE LOCATION '{dir}/t';
CREATE EXTERNAL TABLE gone (id INT, x INT) STORED AS LANCE LOCATION '{dir}/gone';
INSERT INTO t SELECT value, value * 10 FROM generate_series(1, 40);
INSERT INTO gone VALUES (1, 100), (2, 200), (2, 201), (50, 500), (NULL, 0);
CREATE INDEX by_id ON t (id);
EXPLAIN DELETE FROM t WHERE id IN (SELECT id FROM gone);
DELETE FROM t WHERE id IN (SELECT id FROM gone);
DELETE FROM t WHERE EXISTS (SELECT 1 FROM gone WHERE gone.id = t.id + 45) AND x > 0;
DELETE FROM t WHERE x > (SELECT max(x) - 20 FROM t);
-- Because of the NULL there is no such row.
DELETE FROM t WHERE id NOT IN (SELECT id FROM gone);
UPDATE t SET x = (SELECT max(x) FROM gone) WHERE id IN (SELECT id + 2 FROM gone);
UPDATE t SET x = x + (SELECT count(*) FROM gone WHERE gone.id = t.id - 28) WHERE id BETWEEN 29 AND 33;
SELECT id, x FROM t WHERE x % 10 <> 0 OR x >= 320 ORDER BY id;
SELECT count(*), min(id), max(id) FROM t;
-- oracle t by_id: id < 10
ALTER TABLE t REFRESH INDEX by_id;
-- oracle t by_id: id < 10
-- oracle t by_id: id > 25
