-- C17, C18: an index on an empty table is listed; REFRESH fills it, and no empty segment is left.
CREATE EXTERNAL TABLE t (a INT, b INT, c INT, d INT, e VARCHAR[], f VARCHAR, g VARCHAR, h VARCHAR)
STORED AS LANCE LOCATION '{dir}/t';
CREATE INDEX a_btree ON t USING btree (a);
CREATE INDEX b_bitmap ON t USING bitmap (b);
CREATE INDEX c_zonemap ON t USING zonemap (c);
CREATE INDEX d_bloomfilter ON t USING bloomfilter (d);
CREATE INDEX e_label_list ON t USING label_list (e);
CREATE INDEX f_ngram ON t USING ngram (f);
CREATE INDEX g_fts ON t USING fts (g);
CREATE INDEX h_fm ON t USING fm (h);
SHOW INDEXES IN t;
SHOW INDEX SEGMENTS IN t;

-- oracle t: a = 2

-- The type of the column is checked all the same.
CREATE INDEX wrong ON t USING label_list (a);
CREATE INDEX wrong ON t USING fts (a);
CREATE INDEX wrong ON t USING btree (e);

INSERT INTO t
SELECT v, v + 1, v + 2, v + 3, make_array('x', concat('y', v)), concat('text', v), concat('g ', v), concat('h ', v)
FROM generate_series(1, 10) AS s(v);
SHOW INDEXES IN t;
ALTER TABLE t REFRESH INDEXES;
SHOW INDEXES IN t;
SHOW INDEX SEGMENTS IN t;

-- oracle t a_btree: a = 2
-- oracle t b_bitmap: b = 3
-- oracle t c_zonemap: c = 4
-- oracle t d_bloomfilter: d = 5
-- oracle t e_label_list: array_has(e, 'y2')
-- oracle t f_ngram: contains(f, 'text2')
-- oracle t h_fm: contains(h, 'h 2')
