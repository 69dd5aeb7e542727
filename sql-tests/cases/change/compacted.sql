-- Stable row ids: rows are updated, their fragments compacted, others appended. What the segments
-- know of the old values doesn't come back.
CREATE EXTERNAL TABLE t (id INT, kind VARCHAR, labels VARCHAR[], words VARCHAR)
    STORED AS LANCE LOCATION '{dir}/t' OPTIONS (enable_stable_row_ids true);
INSERT INTO t
    SELECT value, CASE WHEN value < 50 THEN 'A' ELSE 'B' END, [CASE WHEN value < 50 THEN 'A' ELSE 'B' END],
        CASE WHEN value < 50 THEN 'anna' ELSE 'berta' END
    FROM generate_series(0, 99);
CREATE INDEX by_kind ON t USING bitmap (kind);
CREATE INDEX by_label ON t USING label_list (labels);
CREATE INDEX by_words ON t USING fts (words);
CREATE INDEX by_id ON t (id);
UPDATE t SET kind = 'B', labels = ['B'], words = 'berta' WHERE id < 25;
OPTIMIZE TABLE t;
-- oracle t by_kind: kind = 'A'
-- oracle t by_label: array_has(labels, 'A')
SELECT count(*) FROM lance_fts('t', 'words', 'anna');
INSERT INTO t SELECT value, 'A', ['A'], 'anna' FROM generate_series(100, 109);
EXPLAIN ALTER TABLE t REFRESH INDEXES;
ALTER TABLE t REFRESH INDEXES;
-- oracle t by_kind: kind = 'A'
-- oracle t by_kind: kind = 'B'
-- oracle t by_label: array_has(labels, 'A')
-- oracle t by_label: array_has(labels, 'B')
-- oracle t by_id: id < 30
SELECT count(*) FROM lance_fts('t', 'words', 'anna');
SELECT count(*) FROM lance_fts('t', 'words', 'berta');

-- All of it at once, and again.
UPDATE t SET kind = lower(kind), labels = [lower(labels[1])], words = 'carla';
OPTIMIZE TABLE t WITH (target_rows_per_fragment = 40);
DELETE FROM t WHERE id % 3 = 0;
OPTIMIZE TABLE t;
ALTER TABLE t REFRESH INDEXES;
ALTER TABLE t REFRESH INDEXES;
-- oracle t by_kind: kind = 'A'
-- oracle t by_kind: kind = 'a'
-- oracle t by_label: array_has(labels, 'A')
-- oracle t by_label: array_has(labels, 'a')
-- oracle t by_id: id < 30
SELECT count(*) FROM lance_fts('t', 'words', 'anna');
SELECT count(*) FROM lance_fts('t', 'words', 'carla');
