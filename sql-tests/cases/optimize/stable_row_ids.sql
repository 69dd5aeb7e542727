-- The same on a table with stable row ids, where an update moves rows to other fragments.
CREATE EXTERNAL TABLE t (a INT, b INT, c INT, d INT, e VARCHAR[], f VARCHAR, g VARCHAR, h VARCHAR)
STORED AS LANCE LOCATION '{dir}/t' OPTIONS (enable_stable_row_ids true);
INSERT INTO t
SELECT v, v % 4, v + 2, v + 3, make_array('x', concat('y', v % 5)), concat('text', v), concat('word', v % 3, ' and g', v), concat('h ', v)
FROM generate_series(1, 5) AS s(v);
CREATE INDEX a_btree ON t USING btree (a);
CREATE INDEX b_bitmap ON t USING bitmap (b);
CREATE INDEX c_zonemap ON t USING zonemap (c);
CREATE INDEX d_bloomfilter ON t USING bloomfilter (d);
CREATE INDEX e_label_list ON t USING label_list (e);
CREATE INDEX f_ngram ON t USING ngram (f);
CREATE INDEX g_fts ON t USING fts (g) WITH (stem = false, max_token_length = NULL);
CREATE INDEX h_fm ON t USING fm (h);
INSERT INTO t
SELECT v, v % 4, v + 2, v + 3, make_array('x', concat('y', v % 5)), concat('text', v), concat('word', v % 3, ' and g', v), concat('h ', v)
FROM generate_series(4, 8) AS s(v);
ALTER TABLE t REFRESH INDEXES;
INSERT INTO t (a) VALUES (NULL);
ALTER TABLE t REFRESH INDEXES;
INSERT INTO t
SELECT v, v % 4, v + 2, v + 3, make_array('x', concat('y', v % 5)), concat('text', v), concat('word', v % 3, ' and g', v), concat('h ', v)
FROM generate_series(9, 12) AS s(v);
ALTER TABLE t REFRESH INDEXES;
-- oracle t a_btree: a = 4
-- oracle t a_btree: a > 7
-- oracle t a_btree: a IS NULL
-- oracle t b_bitmap: b = 1
-- oracle t b_bitmap: b IS NULL
-- oracle t c_zonemap: c BETWEEN 6 AND 11
-- oracle t d_bloomfilter: d = 7
-- oracle t e_label_list: array_has(e, 'y4')
-- oracle t e_label_list: array_has_any(e, ['y1', 'y2'])
-- oracle t f_ngram: contains(f, 'text1')
-- oracle t g_fts: contains_tokens(g, 'word1')
-- oracle t g_fts: contains_tokens(g, 'word2 and')
-- oracle t h_fm: contains(h, 'h 1')
DELETE FROM t WHERE a = 4 OR a = 10;
DELETE FROM t WHERE a = 5 OR a = 8;
UPDATE t SET b = 1, e = ['y4'], g = 'word1', f = 'text99' WHERE a < 3;
-- oracle t a_btree: a = 4
-- oracle t a_btree: a > 7
-- oracle t a_btree: a IS NULL
-- oracle t b_bitmap: b = 1
-- oracle t b_bitmap: b IS NULL
-- oracle t c_zonemap: c BETWEEN 6 AND 11
-- oracle t d_bloomfilter: d = 7
-- oracle t e_label_list: array_has(e, 'y4')
-- oracle t e_label_list: array_has_any(e, ['y1', 'y2'])
-- oracle t f_ngram: contains(f, 'text1')
-- oracle t g_fts: contains_tokens(g, 'word1')
-- oracle t g_fts: contains_tokens(g, 'word2 and')
-- oracle t h_fm: contains(h, 'h 1')
ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 4);
-- oracle t a_btree: a = 4
-- oracle t a_btree: a > 7
-- oracle t a_btree: a IS NULL
-- oracle t b_bitmap: b = 1
-- oracle t b_bitmap: b IS NULL
-- oracle t c_zonemap: c BETWEEN 6 AND 11
-- oracle t d_bloomfilter: d = 7
-- oracle t e_label_list: array_has(e, 'y4')
-- oracle t e_label_list: array_has_any(e, ['y1', 'y2'])
-- oracle t f_ngram: contains(f, 'text1')
-- oracle t g_fts: contains_tokens(g, 'word1')
-- oracle t g_fts: contains_tokens(g, 'word2 and')
-- oracle t h_fm: contains(h, 'h 1')
SHOW INDEX SEGMENTS IN t;
INSERT INTO t
SELECT v, v % 4, v + 2, v + 3, make_array('x', concat('y', v % 5)), concat('text', v), concat('word', v % 3, ' and g', v), concat('h ', v)
FROM generate_series(13, 14) AS s(v);
DELETE FROM t WHERE a > 8 AND a < 13;
-- oracle t a_btree: a = 4
-- oracle t a_btree: a > 7
-- oracle t a_btree: a IS NULL
-- oracle t b_bitmap: b = 1
-- oracle t b_bitmap: b IS NULL
-- oracle t c_zonemap: c BETWEEN 6 AND 11
-- oracle t d_bloomfilter: d = 7
-- oracle t e_label_list: array_has(e, 'y4')
-- oracle t e_label_list: array_has_any(e, ['y1', 'y2'])
-- oracle t f_ngram: contains(f, 'text1')
-- oracle t g_fts: contains_tokens(g, 'word1')
-- oracle t g_fts: contains_tokens(g, 'word2 and')
-- oracle t h_fm: contains(h, 'h 1')
ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 2);
-- oracle t a_btree: a = 4
-- oracle t a_btree: a > 7
-- oracle t a_btree: a IS NULL
-- oracle t b_bitmap: b = 1
-- oracle t b_bitmap: b IS NULL
-- oracle t c_zonemap: c BETWEEN 6 AND 11
-- oracle t d_bloomfilter: d = 7
-- oracle t e_label_list: array_has(e, 'y4')
-- oracle t e_label_list: array_has_any(e, ['y1', 'y2'])
-- oracle t f_ngram: contains(f, 'text1')
-- oracle t g_fts: contains_tokens(g, 'word1')
-- oracle t g_fts: contains_tokens(g, 'word2 and')
-- oracle t h_fm: contains(h, 'h 1')
ALTER TABLE t OPTIMIZE INDEXES WITH (target_rows_per_segment = 1000, merge_factor = 2);
-- oracle t a_btree: a = 4
-- oracle t a_btree: a > 7
-- oracle t a_btree: a IS NULL
-- oracle t b_bitmap: b = 1
-- oracle t b_bitmap: b IS NULL
-- oracle t c_zonemap: c BETWEEN 6 AND 11
-- oracle t d_bloomfilter: d = 7
-- oracle t e_label_list: array_has(e, 'y4')
-- oracle t e_label_list: array_has_any(e, ['y1', 'y2'])
-- oracle t f_ngram: contains(f, 'text1')
-- oracle t g_fts: contains_tokens(g, 'word1')
-- oracle t g_fts: contains_tokens(g, 'word2 and')
-- oracle t h_fm: contains(h, 'h 1')
SHOW INDEXES IN t;
