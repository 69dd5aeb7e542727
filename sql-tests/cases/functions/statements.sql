-- The table functions are the statements, for sessions that can't read those.
CREATE EXTERNAL TABLE t (id INT, kind VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'a'), (2, 'b'), (3, 'b');
SELECT * FROM lance_create_index('t', 'id_idx', 'id');
SELECT * FROM lance_create_index('t', 'kind_idx', 'kind', 'zonemap', 'rows_per_zone=2, num_segments=1');
INSERT INTO t VALUES (4, 'b'), (5, 'c');
INSERT INTO t VALUES (6, 'c');
SELECT * FROM lance_refresh_index('t', 'id_idx', 'num_segments=2');
SELECT * FROM lance_refresh_indexes('t');

-- oracle t id_idx: id > 3
-- oracle t kind_idx: kind = 'b'

-- What they answer is a table like any other.
SELECT name, num_segments, state FROM lance_indexes('t') WHERE index_type = 'btree';
SELECT index_name, sum(num_rows) AS rows FROM lance_index_segments('t') GROUP BY index_name ORDER BY 1;
SELECT fragments FROM lance_index_segments('t', 'id_idx') ORDER BY 1;
SELECT * FROM lance_create_index('t', 'id_idx', 'id', 'if_not_exists=true');
SELECT * FROM lance_create_index('t', 'id_idx', 'kind', 'bitmap', 'or_replace=true');
SELECT * FROM lance_drop_index('t', 'kind_idx');
SELECT * FROM lance_drop_index('t', 'kind_idx', 'if_exists=true');
SHOW INDEXES IN t;
