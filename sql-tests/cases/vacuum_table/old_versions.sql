-- VACUUM removes versions that are old enough, and the files that only they name. The latest stays,
-- and every index goes on finding what a scan finds.
CREATE EXTERNAL TABLE t (a INT, b INT, c INT, e VARCHAR[], f VARCHAR)
STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT v AS a, v % 5 AS b, v AS c, make_array('x', concat('y', v)), concat('text', v) FROM generate_series(1, 30) AS s(v);
INSERT INTO t SELECT v AS a, v % 5 AS b, v AS c, make_array('x', concat('y', v)), concat('text', v) FROM generate_series(31, 60) AS s(v);
CREATE INDEX a_btree ON t USING btree (a);
CREATE INDEX b_bitmap ON t USING bitmap (b);
CREATE INDEX c_zonemap ON t USING zonemap (c) WITH (rows_per_zone = 8);
CREATE INDEX e_label_list ON t USING label_list (e);
CREATE INDEX f_ngram ON t USING ngram (f);
OPTIMIZE TABLE t;
ALTER TABLE t REFRESH INDEXES;

-- Nothing is seven days old.
VACUUM TABLE t;
VACUUM TABLE t WITH (older_than = '1 day 2 hours');

-- Everything is older than this moment, but the latest version is never removed.
SELECT * FROM t WHERE a > 58 ORDER BY a;
VACUUM TABLE t WITH (older_than = '0 seconds');
VACUUM TABLE t WITH (older_than = '0 seconds');
SELECT * FROM t WHERE a > 58 ORDER BY a;
SHOW INDEXES IN t;

-- oracle t a_btree: a BETWEEN 29 AND 32
-- oracle t b_bitmap: b = 3
-- oracle t c_zonemap: c = 31
-- oracle t e_label_list: array_has(e, 'y31')
-- oracle t f_ngram: contains(f, 'text3')

-- Maintenance goes on from there.
INSERT INTO t SELECT v AS a, v % 5 AS b, v AS c, make_array('x', concat('y', v)), concat('text', v) FROM generate_series(61, 70) AS s(v);
ALTER TABLE t REFRESH INDEXES;
OPTIMIZE TABLE t;

-- oracle t a_btree: a > 50
-- oracle t b_bitmap: b = 3
-- oracle t e_label_list: array_has(e, 'y61')
-- oracle t f_ngram: contains(f, 'text6')
