-- C44: what a compaction does to the coverage of each index type, without stable row ids. Where it
-- is lost REFRESH restores it; where it is carried over, REFRESH has 0 fragments to index.
CREATE EXTERNAL TABLE t (a INT, b INT, c INT, d INT, e VARCHAR[], f VARCHAR, g VARCHAR, h VARCHAR)
STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t
SELECT v AS a, v % 5 AS b, v AS c, v AS d, make_array('x', concat('y', v)), concat('text', v), concat('g ', v), concat('h ', v)
FROM generate_series(1, 30) AS s(v);
INSERT INTO t
SELECT v AS a, v % 5 AS b, v AS c, v AS d, make_array('x', concat('y', v)), concat('text', v), concat('g ', v), concat('h ', v)
FROM generate_series(31, 60) AS s(v);
CREATE INDEX a_btree ON t USING btree (a);
CREATE INDEX b_bitmap ON t USING bitmap (b);
CREATE INDEX c_zonemap ON t USING zonemap (c) WITH (rows_per_zone = 8);
CREATE INDEX d_bloomfilter ON t USING bloomfilter (d);
CREATE INDEX e_label_list ON t USING label_list (e);
CREATE INDEX f_ngram ON t USING ngram (f);
CREATE INDEX g_fts ON t USING fts (g);
CREATE INDEX h_fm ON t USING fm (h);
SHOW INDEX SEGMENTS IN t;
OPTIMIZE TABLE t;
SHOW INDEXES IN t;
SHOW INDEX SEGMENTS IN t;

-- oracle t a_btree: a BETWEEN 29 AND 32
-- oracle t b_bitmap: b = 3
-- oracle t: c = 31
-- oracle t: d = 31
-- oracle t e_label_list: array_has(e, 'y31')
-- oracle t f_ngram: contains(f, 'text3')
-- oracle t: contains(h, 'h 31')

ALTER TABLE t REFRESH INDEXES;
SHOW INDEXES IN t;

-- oracle t a_btree: a BETWEEN 29 AND 32
-- oracle t b_bitmap: b = 3
-- oracle t c_zonemap: c = 31
-- oracle t d_bloomfilter: d = 31
-- oracle t e_label_list: array_has(e, 'y31')
-- oracle t f_ngram: contains(f, 'text3')
-- oracle t h_fm: contains(h, 'h 31')

-- The same with stable row ids.
CREATE EXTERNAL TABLE s (a INT, b INT, c INT, d INT, e VARCHAR[], f VARCHAR, g VARCHAR, h VARCHAR)
STORED AS LANCE LOCATION '{dir}/s' OPTIONS (enable_stable_row_ids true);
INSERT INTO s
SELECT v AS a, v % 5 AS b, v AS c, v AS d, make_array('x', concat('y', v)), concat('text', v), concat('g ', v), concat('h ', v)
FROM generate_series(1, 30) AS s(v);
INSERT INTO s
SELECT v AS a, v % 5 AS b, v AS c, v AS d, make_array('x', concat('y', v)), concat('text', v), concat('g ', v), concat('h ', v)
FROM generate_series(31, 60) AS s(v);
CREATE INDEX a_btree ON s USING btree (a);
CREATE INDEX b_bitmap ON s USING bitmap (b);
CREATE INDEX c_zonemap ON s USING zonemap (c) WITH (rows_per_zone = 8);
CREATE INDEX d_bloomfilter ON s USING bloomfilter (d);
CREATE INDEX e_label_list ON s USING label_list (e);
CREATE INDEX f_ngram ON s USING ngram (f);
CREATE INDEX g_fts ON s USING fts (g);
CREATE INDEX h_fm ON s USING fm (h);
SHOW INDEX SEGMENTS IN s;
OPTIMIZE TABLE s;
SHOW INDEXES IN s;
SHOW INDEX SEGMENTS IN s;

-- oracle s a_btree: a BETWEEN 29 AND 32
-- oracle s b_bitmap: b = 3
-- oracle s: c = 31
-- oracle s: d = 31
-- oracle s e_label_list: array_has(e, 'y31')
-- oracle s f_ngram: contains(f, 'text3')
-- oracle s: contains(h, 'h 31')

ALTER TABLE s REFRESH INDEXES;

-- oracle s a_btree: a BETWEEN 29 AND 32
-- oracle s b_bitmap: b = 3
-- oracle s c_zonemap: c = 31
-- oracle s d_bloomfilter: d = 31
-- oracle s e_label_list: array_has(e, 'y31')
-- oracle s f_ngram: contains(f, 'text3')
-- oracle s h_fm: contains(h, 'h 31')
