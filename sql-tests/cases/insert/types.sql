-- Values of each type come back as they were inserted.
CREATE EXTERNAL TABLE t (
  a TINYINT, b BIGINT, c DOUBLE, d DECIMAL(10, 2), e VARCHAR, f DATE, g TIMESTAMP, h BYTEA, i BOOLEAN,
  j STRUCT<x INT, y VARCHAR>, k INT[], l VARCHAR[]
) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES
  (1, 2, 0.5, 12.34, 'größer', DATE '2024-02-29', TIMESTAMP '2024-02-29 12:30:00.123456789', X'00ff', true, {x: 1, y: 'a'}, [1, 2], ['a', NULL]),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
SELECT * FROM t ORDER BY a;
SELECT column_name, data_type, is_nullable FROM information_schema.columns WHERE table_name = 't' ORDER BY ordinal_position;
