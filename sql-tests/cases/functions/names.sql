-- Names in arguments are written as in SQL; a text that isn't an identifier is an exact name.
CREATE EXTERNAL TABLE "My-T" (id INT, "Kind" VARCHAR, geo STRUCT<country VARCHAR>, "my-col" INT)
  STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO "My-T" VALUES (1, 'a', {country: 'FR'}, 1), (2, 'b', {country: 'CH'}, 2);
SELECT index_name FROM lance_create_index('My-T', 'First', 'ID');
SELECT index_name FROM lance_create_index('"My-T"', '"Second"', '"Kind"', 'BTree');
SELECT index_name FROM lance_create_index('public."My-T"', 'third-idx', 'geo.country');
SELECT index_name FROM lance_create_index('public."My-T"', 'a.b', 'my-col');
SELECT index_name FROM lance_refresh_index('My-T', 'FIRST');
SELECT name, fields FROM lance_indexes('My-T');
-- Folded to lower case, as everywhere.
SELECT name FROM lance_indexes('"my-t"');
SELECT * FROM lance_index_segments('My-T', '"second"');

-- oracle "My-T": geo.country = 'CH'
