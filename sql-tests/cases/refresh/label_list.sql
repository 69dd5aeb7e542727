-- A label list finds the rows whose list has an element.
CREATE EXTERNAL TABLE t (id INT, tags VARCHAR[]) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, ['a', 'b']), (2, ['b']), (3, []), (4, NULL), (5, ['c', NULL]);
CREATE INDEX tags_idx ON t USING label_list (tags);
SHOW INDEXES IN t;

-- oracle t tags_idx: array_has(tags, 'b')
-- oracle t tags_idx: array_has_any(tags, ['a', 'c'])
-- oracle t tags_idx: array_has_all(tags, ['a', 'b'])

INSERT INTO t VALUES (6, ['b', 'c']), (7, NULL);

-- oracle t tags_idx: array_has(tags, 'b')

ALTER TABLE t REFRESH INDEX tags_idx;

-- oracle t tags_idx: array_has(tags, 'b')
-- oracle t tags_idx: array_has_any(tags, ['a', 'c'])
-- oracle t tags_idx: array_has_all(tags, ['a', 'b'])
-- oracle t tags_idx: NOT array_has(tags, 'b')

SHOW INDEX SEGMENTS IN t;
