-- REFRESH after a VACUUM: what cleanup took is not there to tell whether a
-- segment is stale, so those that may be are built anew.
CREATE EXTERNAL TABLE t (id INT, n INT) STORED AS LANCE LOCATION '{dir}/t'
OPTIONS (enable_stable_row_ids true);
INSERT INTO t SELECT v, v % 5 FROM generate_series(1, 20) AS s(v);
CREATE INDEX i ON t (id);
CREATE INDEX j ON t USING bitmap (n);
INSERT INTO t SELECT v, v % 5 FROM generate_series(21, 40) AS s(v);
INSERT INTO t SELECT v, v % 5 FROM generate_series(41, 60) AS s(v);
VACUUM TABLE t WITH (older_than = '0 seconds');
ALTER TABLE t REFRESH INDEXES;

-- oracle t i: id BETWEEN 19 AND 22
-- oracle t j: n = 3

-- In the other order nothing is built anew.
CREATE EXTERNAL TABLE u (id INT, n INT) STORED AS LANCE LOCATION '{dir}/u'
OPTIONS (enable_stable_row_ids true);
INSERT INTO u SELECT v, v % 5 FROM generate_series(1, 20) AS s(v);
CREATE INDEX i ON u (id);
CREATE INDEX j ON u USING bitmap (n);
INSERT INTO u SELECT v, v % 5 FROM generate_series(21, 40) AS s(v);
INSERT INTO u SELECT v, v % 5 FROM generate_series(41, 60) AS s(v);
ALTER TABLE u REFRESH INDEXES;
VACUUM TABLE u WITH (older_than = '0 seconds');

-- oracle u i: id BETWEEN 19 AND 22
-- oracle u j: n = 3
