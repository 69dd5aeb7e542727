-- C43: three fragments of ints, btree, a range deleted, compaction: the edges of the range.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT v FROM generate_series(0, 4999) AS s(v);
INSERT INTO t SELECT v FROM generate_series(5000, 9999) AS s(v);
INSERT INTO t SELECT v FROM generate_series(10000, 14999) AS s(v);
CREATE INDEX i ON t (id);
DELETE FROM t WHERE id BETWEEN 4000 AND 10999;
EXPLAIN OPTIMIZE TABLE t;
OPTIMIZE TABLE t;

-- oracle t i: id = 3999
-- oracle t i: id = 4000
-- oracle t i: id = 10999
-- oracle t i: id = 11000
-- oracle t i: id BETWEEN 3990 AND 11009

ALTER TABLE t REFRESH INDEX i;

-- C45: a fragment that is indexed, one that isn't, every fourth row deleted, compaction.
CREATE EXTERNAL TABLE u (a INT, b INT, c INT, d INT) STORED AS LANCE LOCATION '{dir}/u';
INSERT INTO u SELECT v AS a, v % 5 AS b, v AS c, v AS d FROM generate_series(1, 200) AS s(v);
CREATE INDEX a_btree ON u USING btree (a);
CREATE INDEX b_bitmap ON u USING bitmap (b);
CREATE INDEX c_zonemap ON u USING zonemap (c) WITH (rows_per_zone = 64);
CREATE INDEX d_bloomfilter ON u USING bloomfilter (d);
INSERT INTO u SELECT v AS a, v % 5 AS b, v AS c, v AS d FROM generate_series(201, 400) AS s(v);
DELETE FROM u WHERE a % 4 = 0;
EXPLAIN OPTIMIZE TABLE u;
OPTIMIZE TABLE u;

-- oracle u a_btree: a = 101
-- oracle u a_btree: a BETWEEN 190 AND 210
-- oracle u b_bitmap: b = 3
-- oracle u: c = 100
-- oracle u: d = 101

ALTER TABLE u REFRESH INDEXES;

-- oracle u a_btree: a = 301
-- oracle u a_btree: a BETWEEN 190 AND 210
-- oracle u b_bitmap: b = 3
-- oracle u c_zonemap: c BETWEEN 95 AND 105
-- oracle u d_bloomfilter: d = 301

OPTIMIZE TABLE u;
ALTER TABLE u REFRESH INDEXES;

-- oracle u a_btree: a BETWEEN 190 AND 210
-- oracle u b_bitmap: b = 3
