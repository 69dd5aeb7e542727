-- Rows that keep their ids when they are updated: segments know them by their old values, until
-- REFRESH builds these segments anew.
CREATE EXTERNAL TABLE t (id INT, kind VARCHAR, labels VARCHAR[], words VARCHAR)
    STORED AS LANCE LOCATION '{dir}/t' OPTIONS (enable_stable_row_ids true);
INSERT INTO t
    SELECT value, CASE WHEN value < 50 THEN 'A' ELSE 'B' END, [CASE WHEN value < 50 THEN 'A' ELSE 'B' END],
        CASE WHEN value < 50 THEN 'anna' ELSE 'berta' END
    FROM generate_series(0, 99);
CREATE INDEX by_bitmap ON t USING bitmap (kind);
CREATE INDEX by_btree ON t USING btree (kind);
CREATE INDEX by_zonemap ON t USING zonemap (id) WITH (rows_per_zone = 8);
CREATE INDEX by_label ON t USING label_list (labels);
CREATE INDEX by_words ON t USING fts (words);
UPDATE t SET kind = 'B', labels = ['B'], words = 'berta' WHERE id < 25;
SELECT kind, count(*) FROM t GROUP BY kind ORDER BY kind;
SHOW INDEXES FROM t;
-- oracle t: kind = 'A'
-- oracle t by_label: array_has(labels, 'A')
-- oracle t by_zonemap: id < 30
EXPLAIN ALTER TABLE t REFRESH INDEXES;
ALTER TABLE t REFRESH INDEXES;
-- oracle t: kind = 'A'
-- oracle t: kind = 'B'
-- oracle t by_label: array_has(labels, 'A')
-- oracle t by_label: array_has(labels, 'B')
-- oracle t by_zonemap: id < 30

-- An update of all rows of one of the fragments that are covered.
INSERT INTO t SELECT value, 'A', ['A'], 'anna' FROM generate_series(100, 149);
ALTER TABLE t REFRESH INDEXES;
UPDATE t SET kind = 'C', labels = ['C'], words = 'carla' WHERE id >= 100;
-- oracle t: kind = 'A'
-- oracle t by_label: array_has(labels, 'A')
ALTER TABLE t REFRESH INDEXES;
-- oracle t: kind = 'A'
-- oracle t: kind = 'C'
-- oracle t by_label: array_has(labels, 'A')
-- oracle t by_label: array_has(labels, 'C')

-- A delete makes no segment stale.
DELETE FROM t WHERE id % 4 = 0;
INSERT INTO t SELECT value, 'A', ['A'], 'anna' FROM generate_series(200, 219);
ALTER TABLE t REFRESH INDEXES;
ALTER TABLE t REFRESH INDEXES;
-- oracle t: kind = 'A'
-- oracle t by_label: array_has(labels, 'A')
-- oracle t by_zonemap: id < 30

-- An index of a column that an update leaves alone goes on covering its rows.
UPDATE t SET id = id + 1000 WHERE id < 60;
SHOW INDEXES FROM t;
-- oracle t: kind = 'A'
-- oracle t by_label: array_has(labels, 'A')
-- oracle t: id > 1000
