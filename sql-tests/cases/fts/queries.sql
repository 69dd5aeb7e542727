-- Queries in JSON, as all clients of Lance have them. The column argument is for those that name none.
CREATE EXTERNAL TABLE t (id INT, text VARCHAR, geo STRUCT<city VARCHAR>, tags VARCHAR[]) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES
  (1, 'the quick brown fox', {city: 'old town'}, ['red fox', 'north']),
  (2, 'a lazy dog', {city: 'new town'}, ['dog']),
  (3, 'the quick dog met the quick fox', {city: 'dog hill'}, []);
CREATE INDEX text_idx ON t USING fts (text) WITH (with_position = true, stem = false);
CREATE INDEX city_idx ON t USING fts (geo.city);
CREATE INDEX tags_idx ON t USING fts (tags);
INSERT INTO t VALUES (4, 'quick dog', {city: 'quick dog'}, ['dog', 'fox']);
SELECT id FROM lance_fts('t', 'text', '{"match": {"terms": "quick dog", "operator": "And"}}') ORDER BY id;
SELECT id FROM lance_fts('t', '{"phrase": {"column": "text", "terms": "quick dog"}}') ORDER BY id;
SELECT id FROM lance_fts('t', 'text', '{"boolean": {"must": [{"match": {"terms": "quick"}}], "must_not": [{"match": {"terms": "brown"}}]}}') ORDER BY id;
SELECT id FROM lance_fts('t', 'text', '{"boost": {"positive": {"match": {"terms": "dog"}}, "negative": {"match": {"terms": "quick"}}}}') ORDER BY _score DESC, id;
SELECT id FROM lance_fts('t', '{"multi_match": {"match_queries": [{"column": "text", "terms": "dog"}, {"column": "geo.city", "terms": "dog"}]}}') ORDER BY id;
SELECT id FROM lance_fts('t', 'geo.city', 'town') ORDER BY id;
SELECT id FROM lance_fts('t', 'tags', 'fox') ORDER BY id;
ALTER TABLE t REFRESH INDEXES;
SELECT id FROM lance_fts('t', 'text', '{"match": {"terms": "quick dog", "operator": "And"}}') ORDER BY id;
SELECT id FROM lance_fts('t', '{"phrase": {"column": "text", "terms": "quick dog"}}') ORDER BY id;
SELECT id FROM lance_fts('t', 'text', '{"boolean": {"must": [{"match": {"terms": "quick"}}], "must_not": [{"match": {"terms": "brown"}}]}}') ORDER BY id;
SELECT id FROM lance_fts('t', 'text', '{"boost": {"positive": {"match": {"terms": "dog"}}, "negative": {"match": {"terms": "quick"}}}}') ORDER BY _score DESC, id;
SELECT id FROM lance_fts('t', '{"multi_match": {"match_queries": [{"column": "text", "terms": "dog"}, {"column": "geo.city", "terms": "dog"}]}}') ORDER BY id;
SELECT id FROM lance_fts('t', 'geo.city', 'town') ORDER BY id;
SELECT id FROM lance_fts('t', 'tags', 'fox') ORDER BY id;
-- Words near those.
SELECT id FROM lance_fts('t', 'text', '{"match": {"terms": "quik", "fuzziness": 1}}') ORDER BY id;
SELECT id FROM lance_fts('t', 'text', '{"match": {"terms": "quik", "fuzziness": 0}}') ORDER BY id;
-- A row an index doesn't know yet is found by the words themselves alone.
INSERT INTO t VALUES (5, 'quick', NULL, NULL);
SELECT id FROM lance_fts('t', 'text', '{"match": {"terms": "quik", "fuzziness": 1}}') ORDER BY id;
