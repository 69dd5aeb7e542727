-- C41: stable row ids, btree, compaction: rows are found under their new addresses.
CREATE EXTERNAL TABLE t (id INT, n INT) STORED AS LANCE LOCATION '{dir}/t'
OPTIONS (enable_stable_row_ids true);
INSERT INTO t SELECT v, v % 7 FROM generate_series(1, 100) AS s(v);
INSERT INTO t SELECT v, v % 7 FROM generate_series(101, 200) AS s(v);
CREATE INDEX i ON t (id);
CREATE INDEX j ON t USING bitmap (n);
OPTIMIZE TABLE t;
SHOW INDEX SEGMENTS IN t;

-- oracle t i: id = 1
-- oracle t i: id = 100
-- oracle t i: id = 101
-- oracle t i: id = 200
-- oracle t j: n = 3

ALTER TABLE t REFRESH INDEXES;
INSERT INTO t SELECT v, v % 7 FROM generate_series(201, 300) AS s(v);
ALTER TABLE t REFRESH INDEXES;
OPTIMIZE TABLE t;

-- oracle t i: id = 1
-- oracle t i: id BETWEEN 190 AND 210
-- oracle t j: n = 3
