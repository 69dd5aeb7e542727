-- UPDATE moves rows; the values may be any expression that DataFusion has.
CREATE EXTERNAL TABLE t (id INT, kind VARCHAR, price DOUBLE, at TIMESTAMP, tags VARCHAR[])
    STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t
    SELECT value, concat('k', value % 3), value / 2.0, to_timestamp(1700000000 + value), [concat('tag', value % 4)]
    FROM generate_series(0, 99);
CREATE INDEX by_id ON t (id);
CREATE INDEX by_kind ON t USING bitmap (kind);
CREATE INDEX by_tag ON t USING label_list (tags);
UPDATE t SET price = price + 1, kind = CASE WHEN id % 2 = 0 THEN 'even' ELSE upper(kind) END WHERE id < 10;
SELECT id, kind, price FROM t WHERE id < 12 ORDER BY id;
-- oracle t by_id: id < 20
-- oracle t by_kind: kind = 'even' OR kind = 'K1' OR kind = 'k1'

UPDATE t SET tags = ['new', tags[1]], at = now() WHERE array_has(tags, 'tag3') AND id < 20;
-- oracle t by_tag: array_has(tags, 'tag3')
-- oracle t: array_has(tags, 'new')
SELECT count(*) FROM t WHERE at > now() - INTERVAL '1 day';

ALTER TABLE t REFRESH INDEXES;
-- oracle t by_id: id < 20
-- oracle t by_kind: kind = 'even' OR kind = 'K1' OR kind = 'k1'
-- oracle t by_tag: array_has(tags, 'tag3')
-- oracle t by_tag: array_has(tags, 'new')

-- No row, no version.
UPDATE t SET price = 0 WHERE id > 1000;
UPDATE t SET price = 0 WHERE id = 1 AND id = 2;
UPDATE t SET price = price WHERE id < 5;
EXPLAIN UPDATE t SET price = 0 WHERE id = 3;
UPDATE t AS alias SET price = alias.price * 2 WHERE alias.id = 3;
UPDATE t SET kind = NULL;
SELECT kind, count(*), sum(price) FROM t GROUP BY kind;
-- oracle t: kind IS NULL
ALTER TABLE t REFRESH INDEXES;
-- oracle t by_kind: kind IS NULL
-- oracle t by_kind: kind = 'even'
