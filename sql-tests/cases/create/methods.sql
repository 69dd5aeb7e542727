-- C05: a method's name has no case and may be quoted; fts is also called inverted.
CREATE EXTERNAL TABLE t (id INT, text VARCHAR, tags VARCHAR[]) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'some words', ['a', 'b']);
CREATE INDEX no_method ON t (id);
CREATE INDEX upper_btree ON t USING 'BTREE' (id);
CREATE INDEX mixed_btree ON t USING Btree (id);
CREATE INDEX quoted_btree ON t USING "btree" (id);
CREATE INDEX bitmap_i ON t USING bitmap (id);
CREATE INDEX label_list_i ON t USING LABEL_LIST (tags);
CREATE INDEX ngram_i ON t USING ngram (text);
CREATE INDEX zonemap_i ON t USING zonemap (id);
CREATE INDEX bloomfilter_i ON t USING bloomfilter (id);
CREATE INDEX inverted_i ON t USING inverted (text);
CREATE INDEX fts_i ON t USING FTS (text);
CREATE INDEX fm_i ON t USING fm (text);
SHOW INDEXES IN t;
