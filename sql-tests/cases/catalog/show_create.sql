-- The statement that would make the index, in a form that is read again.
CREATE EXTERNAL TABLE "My T" (id INT, kind VARCHAR, "a b" INT, s STRUCT<x INT, "Y z" VARCHAR>, l VARCHAR[])
STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO "My T" SELECT value, concat('k', value % 4), value + 1, named_struct('x', value, 'Y z', 'v'), make_array('l')
FROM generate_series(0, 99);
CREATE INDEX by_id ON "My T" (id);
CREATE INDEX "By ""Kind""" ON "My T" USING bitmap (kind);
CREATE INDEX "select" ON "My T" USING zonemap ("a b") WITH (rows_per_zone = 32, num_segments = 2);
CREATE INDEX leaf ON "My T" USING bloomfilter (s.x) WITH (probability = 0.001);
CREATE INDEX "Leaf" ON "My T" USING ngram (s."Y z");
CREATE INDEX text ON "My T" USING fts (kind) WITH (stem = false, max_token_length = NULL, language = 'German');
CREATE INDEX labels ON "My T" USING label_list (l);
CREATE INDEX fm ON "My T" USING fm (kind);
CREATE INDEX "table" ON "My T" (id);
SHOW CREATE INDEX by_id ON "My T";
SHOW CREATE INDEX "By ""Kind""" ON "My T";
SHOW CREATE INDEX "select" ON public."My T";
SHOW CREATE INDEX "table" ON "My T";
SHOW CREATE INDEX leaf ON "My T";
SHOW CREATE INDEX "Leaf" ON "My T";
SHOW CREATE INDEX text ON "My T";
SHOW CREATE INDEX labels ON "My T";
SHOW CREATE INDEX fm ON "My T";
EXPLAIN SHOW CREATE INDEX fm ON "My T";
SHOW CREATE INDEX nothing ON "My T";
SHOW CREATE INDEX "leAf" ON "My T";
SHOW CREATE INDEX __lance_x ON "My T";
-- As it was shown.
DROP INDEX "select" ON "My T";
ALTER TABLE public."My T" CREATE INDEX select USING zonemap ("a b") WITH (rows_per_zone = 32);
SHOW CREATE INDEX "select" ON "My T";
DROP INDEX text ON "My T";
ALTER TABLE "My T" CREATE INDEX text USING fts (kind) WITH (language = 'German', max_token_length = NULL, stem = false);
SHOW CREATE INDEX text ON "My T";
