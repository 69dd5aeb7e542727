-- A Bloom filter on columns of each type that it takes (decimals and booleans aren't), before and
-- after an append and after REFRESH.
CREATE EXTERNAL TABLE t (
  tinyint_c TINYINT,
  int_c INT,
  bigint_c BIGINT,
  double_c DOUBLE,
  varchar_c VARCHAR,
  date_c DATE,
  timestamp_c TIMESTAMP,
  binary_c BYTEA
) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES
  (1, 1, 9223372036854775807, 0.5, '', DATE '2024-02-29', TIMESTAMP '2024-02-29 12:30:00', X'00ff'),
  (2, 2, 2, -1e300, 'größer', DATE '1969-12-31', TIMESTAMP '1969-12-31 23:59:59.999', X''),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE INDEX tinyint_i ON t USING bloomfilter (tinyint_c);
CREATE INDEX int_i ON t USING bloomfilter (int_c);
CREATE INDEX bigint_i ON t USING bloomfilter (bigint_c);
CREATE INDEX double_i ON t USING bloomfilter (double_c);
CREATE INDEX varchar_i ON t USING bloomfilter (varchar_c);
CREATE INDEX date_i ON t USING bloomfilter (date_c);
CREATE INDEX timestamp_i ON t USING bloomfilter (timestamp_c);
CREATE INDEX binary_i ON t USING bloomfilter (binary_c);
SHOW INDEXES IN t;

-- oracle t tinyint_i: tinyint_c = 1
-- oracle t tinyint_i: tinyint_c IS NULL
-- oracle t int_i: int_c = 1
-- oracle t int_i: int_c IS NULL
-- oracle t bigint_i: bigint_c = 9223372036854775807
-- oracle t bigint_i: bigint_c IS NULL
-- oracle t double_i: double_c = 0.5
-- oracle t double_i: double_c IS NULL
-- oracle t varchar_i: varchar_c = ''
-- oracle t varchar_i: varchar_c IS NULL
-- oracle t date_i: date_c = DATE '2024-02-29'
-- oracle t date_i: date_c IS NULL
-- oracle t timestamp_i: timestamp_c = TIMESTAMP '2024-02-29 12:30:00'
-- oracle t timestamp_i: timestamp_c IS NULL
-- oracle t binary_i: binary_c = X'00ff'
-- oracle t binary_i: binary_c IS NULL

INSERT INTO t VALUES
  (-128, -7, -7, 2.25, 'b', DATE '2024-03-01', TIMESTAMP '2024-03-01', X'616263'),
  (1, 1, 9223372036854775807, 0.5, '', DATE '2024-02-29', TIMESTAMP '2024-02-29 12:30:00', X'00ff'),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

-- oracle t tinyint_i: tinyint_c = 1
-- oracle t tinyint_i: tinyint_c IS NULL
-- oracle t int_i: int_c = 1
-- oracle t int_i: int_c IS NULL
-- oracle t bigint_i: bigint_c = 9223372036854775807
-- oracle t bigint_i: bigint_c IS NULL
-- oracle t double_i: double_c = 0.5
-- oracle t double_i: double_c IS NULL
-- oracle t varchar_i: varchar_c = ''
-- oracle t varchar_i: varchar_c IS NULL
-- oracle t date_i: date_c = DATE '2024-02-29'
-- oracle t date_i: date_c IS NULL
-- oracle t timestamp_i: timestamp_c = TIMESTAMP '2024-02-29 12:30:00'
-- oracle t timestamp_i: timestamp_c IS NULL
-- oracle t binary_i: binary_c = X'00ff'
-- oracle t binary_i: binary_c IS NULL

ALTER TABLE t REFRESH INDEXES;

-- oracle t tinyint_i: tinyint_c = 1
-- oracle t tinyint_i: tinyint_c IS NULL
-- oracle t int_i: int_c = 1
-- oracle t int_i: int_c IS NULL
-- oracle t bigint_i: bigint_c = 9223372036854775807
-- oracle t bigint_i: bigint_c IS NULL
-- oracle t double_i: double_c = 0.5
-- oracle t double_i: double_c IS NULL
-- oracle t varchar_i: varchar_c = ''
-- oracle t varchar_i: varchar_c IS NULL
-- oracle t date_i: date_c = DATE '2024-02-29'
-- oracle t date_i: date_c IS NULL
-- oracle t timestamp_i: timestamp_c = TIMESTAMP '2024-02-29 12:30:00'
-- oracle t timestamp_i: timestamp_c IS NULL
-- oracle t binary_i: binary_c = X'00ff'
-- oracle t binary_i: binary_c IS NULL
