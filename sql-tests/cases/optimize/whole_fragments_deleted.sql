-- Fragments that are gone are neither counted nor claimed. Lance doesn't merge ngram segments that
-- cover some: they are merged from their rows.
CREATE EXTERNAL TABLE t (id INT, s VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'one apple');
INSERT INTO t VALUES (2, 'two apples');
CREATE INDEX b ON t (id);
CREATE INDEX n ON t USING ngram (s);
INSERT INTO t VALUES (3, 'three apples');
INSERT INTO t VALUES (4, 'four pears');
ALTER TABLE t REFRESH INDEXES;
DELETE FROM t WHERE id IN (2, 3);
EXPLAIN ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 2);
ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 2);
SHOW INDEX SEGMENTS IN t;
-- oracle t b: id > 0
-- oracle t n: contains(s, 'apple')

-- A segment that has lost all its fragments goes beside an addition.
DELETE FROM t WHERE id > 0;
ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 2);
INSERT INTO t VALUES (5, 'five apples');
ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 2);
SHOW INDEX SEGMENTS IN t;
-- oracle t b: id > 0
-- oracle t n: contains(s, 'apple')
