-- A btree on columns of each type, before and after an append and after REFRESH.
CREATE EXTERNAL TABLE t (
  tinyint_c TINYINT,
  int_c INT,
  bigint_c BIGINT,
  double_c DOUBLE,
  decimal_c DECIMAL(10, 2),
  varchar_c VARCHAR,
  date_c DATE,
  timestamp_c TIMESTAMP,
  binary_c BYTEA,
  boolean_c BOOLEAN
) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES
  (1, 1, 9223372036854775807, 0.5, 12.34, '', DATE '2024-02-29', TIMESTAMP '2024-02-29 12:30:00', X'00ff', true),
  (2, 2, 2, -1e300, -0.01, 'größer', DATE '1969-12-31', TIMESTAMP '1969-12-31 23:59:59.999', X'', false),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE INDEX tinyint_i ON t USING btree (tinyint_c);
CREATE INDEX int_i ON t USING btree (int_c);
CREATE INDEX bigint_i ON t USING btree (bigint_c);
CREATE INDEX double_i ON t USING btree (double_c);
CREATE INDEX decimal_i ON t USING btree (decimal_c);
CREATE INDEX varchar_i ON t USING btree (varchar_c);
CREATE INDEX date_i ON t USING btree (date_c);
CREATE INDEX timestamp_i ON t USING btree (timestamp_c);
CREATE INDEX binary_i ON t USING btree (binary_c);
CREATE INDEX boolean_i ON t USING btree (boolean_c);
SHOW INDEXES IN t;

-- oracle t tinyint_i: tinyint_c = 1
-- oracle t tinyint_i: tinyint_c > 2
-- oracle t tinyint_i: tinyint_c IS NULL
-- oracle t int_i: int_c = 1
-- oracle t int_i: int_c > 2
-- oracle t int_i: int_c IS NULL
-- oracle t bigint_i: bigint_c = 9223372036854775807
-- oracle t bigint_i: bigint_c > 2
-- oracle t bigint_i: bigint_c IS NULL
-- oracle t double_i: double_c = 0.5
-- oracle t double_i: double_c > -1e300
-- oracle t double_i: double_c IS NULL
-- oracle t decimal_i: decimal_c = 12.34
-- oracle t decimal_i: decimal_c > -0.01
-- oracle t decimal_i: decimal_c IS NULL
-- oracle t varchar_i: varchar_c = ''
-- oracle t varchar_i: varchar_c > 'größer'
-- oracle t varchar_i: varchar_c IS NULL
-- oracle t date_i: date_c = DATE '2024-02-29'
-- oracle t date_i: date_c > DATE '1969-12-31'
-- oracle t date_i: date_c IS NULL
-- oracle t timestamp_i: timestamp_c = TIMESTAMP '2024-02-29 12:30:00'
-- oracle t timestamp_i: timestamp_c > TIMESTAMP '1969-12-31 23:59:59.999'
-- oracle t timestamp_i: timestamp_c IS NULL
-- oracle t binary_i: binary_c = X'00ff'
-- oracle t binary_i: binary_c > X''
-- oracle t binary_i: binary_c IS NULL
-- oracle t boolean_i: boolean_c = true
-- oracle t boolean_i: boolean_c IS NULL

INSERT INTO t VALUES
  (-128, -7, -7, 2.25, 99999999.99, 'b', DATE '2024-03-01', TIMESTAMP '2024-03-01', X'616263', true),
  (1, 1, 9223372036854775807, 0.5, 12.34, '', DATE '2024-02-29', TIMESTAMP '2024-02-29 12:30:00', X'00ff', true),
  (NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

-- oracle t tinyint_i: tinyint_c = 1
-- oracle t tinyint_i: tinyint_c > 2
-- oracle t tinyint_i: tinyint_c IS NULL
-- oracle t int_i: int_c = 1
-- oracle t int_i: int_c > 2
-- oracle t int_i: int_c IS NULL
-- oracle t bigint_i: bigint_c = 9223372036854775807
-- oracle t bigint_i: bigint_c > 2
-- oracle t bigint_i: bigint_c IS NULL
-- oracle t double_i: double_c = 0.5
-- oracle t double_i: double_c > -1e300
-- oracle t double_i: double_c IS NULL
-- oracle t decimal_i: decimal_c = 12.34
-- oracle t decimal_i: decimal_c > -0.01
-- oracle t decimal_i: decimal_c IS NULL
-- oracle t varchar_i: varchar_c = ''
-- oracle t varchar_i: varchar_c > 'größer'
-- oracle t varchar_i: varchar_c IS NULL
-- oracle t date_i: date_c = DATE '2024-02-29'
-- oracle t date_i: date_c > DATE '1969-12-31'
-- oracle t date_i: date_c IS NULL
-- oracle t timestamp_i: timestamp_c = TIMESTAMP '2024-02-29 12:30:00'
-- oracle t timestamp_i: timestamp_c > TIMESTAMP '1969-12-31 23:59:59.999'
-- oracle t timestamp_i: timestamp_c IS NULL
-- oracle t binary_i: binary_c = X'00ff'
-- oracle t binary_i: binary_c > X''
-- oracle t binary_i: binary_c IS NULL
-- oracle t boolean_i: boolean_c = true
-- oracle t boolean_i: boolean_c IS NULL

ALTER TABLE t REFRESH INDEXES;

-- oracle t tinyint_i: tinyint_c = 1
-- oracle t tinyint_i: tinyint_c > 2
-- oracle t tinyint_i: tinyint_c IS NULL
-- oracle t int_i: int_c = 1
-- oracle t int_i: int_c > 2
-- oracle t int_i: int_c IS NULL
-- oracle t bigint_i: bigint_c = 9223372036854775807
-- oracle t bigint_i: bigint_c > 2
-- oracle t bigint_i: bigint_c IS NULL
-- oracle t double_i: double_c = 0.5
-- oracle t double_i: double_c > -1e300
-- oracle t double_i: double_c IS NULL
-- oracle t decimal_i: decimal_c = 12.34
-- oracle t decimal_i: decimal_c > -0.01
-- oracle t decimal_i: decimal_c IS NULL
-- oracle t varchar_i: varchar_c = ''
-- oracle t varchar_i: varchar_c > 'größer'
-- oracle t varchar_i: varchar_c IS NULL
-- oracle t date_i: date_c = DATE '2024-02-29'
-- oracle t date_i: date_c > DATE '1969-12-31'
-- oracle t date_i: date_c IS NULL
-- oracle t timestamp_i: timestamp_c = TIMESTAMP '2024-02-29 12:30:00'
-- oracle t timestamp_i: timestamp_c > TIMESTAMP '1969-12-31 23:59:59.999'
-- oracle t timestamp_i: timestamp_c IS NULL
-- oracle t binary_i: binary_c = X'00ff'
-- oracle t binary_i: binary_c > X''
-- oracle t binary_i: binary_c IS NULL
-- oracle t boolean_i: boolean_c = true
-- oracle t boolean_i: boolean_c IS NULL
