-- A table with stable row ids: an append makes no segment stale, so that none is rewritten.
CREATE EXTERNAL TABLE t (a INT, b INT, c INT, d INT, e VARCHAR[], f VARCHAR, g VARCHAR, h VARCHAR)
STORED AS LANCE LOCATION '{dir}/t' OPTIONS (enable_stable_row_ids true);
INSERT INTO t
SELECT v, v + 1, v + 2, v + 3, make_array('x', concat('y', v)), concat('text', v), concat('g ', v), concat('h ', v)
FROM generate_series(1, 5) AS s(v);
CREATE INDEX a_btree ON t USING btree (a);
CREATE INDEX b_bitmap ON t USING bitmap (b);
CREATE INDEX c_zonemap ON t USING zonemap (c);
CREATE INDEX d_bloomfilter ON t USING bloomfilter (d);
CREATE INDEX e_label_list ON t USING label_list (e);
CREATE INDEX f_ngram ON t USING ngram (f);
CREATE INDEX g_fts ON t USING fts (g);
CREATE INDEX h_fm ON t USING fm (h);
INSERT INTO t
SELECT v, v + 1, v + 2, v + 3, make_array('x', concat('y', v)), concat('text', v), concat('g ', v), concat('h ', v)
FROM generate_series(4, 8) AS s(v);

-- oracle t a_btree: a = 4
-- oracle t b_bitmap: b = 5
-- oracle t c_zonemap: c = 6
-- oracle t d_bloomfilter: d = 7
-- oracle t e_label_list: array_has(e, 'y4')
-- oracle t f_ngram: contains(f, 'text4')
-- oracle t h_fm: contains(h, 'h 4')

ALTER TABLE t REFRESH INDEXES;

-- oracle t a_btree: a = 4
-- oracle t b_bitmap: b = 5
-- oracle t c_zonemap: c = 6
-- oracle t d_bloomfilter: d = 7
-- oracle t e_label_list: array_has(e, 'y4')
-- oracle t f_ngram: contains(f, 'text4')
-- oracle t h_fm: contains(h, 'h 4')
