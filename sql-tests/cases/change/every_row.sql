-- An index outlives the rows that it covers: after an update of every row, a delete of every row and
-- an overwrite it is listed, and REFRESH brings it back with its parameters.
CREATE EXTERNAL TABLE t (id INT, kind VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t SELECT value, concat('k', value % 4) FROM generate_series(0, 199);
CREATE INDEX by_id ON t USING zonemap (id) WITH (rows_per_zone = 32);
CREATE INDEX by_kind ON t USING bloomfilter (kind) WITH (number_of_items = 100);

UPDATE t SET kind = concat(kind, 'x');
SHOW INDEXES FROM t;
ALTER TABLE t REFRESH INDEXES;
-- oracle t by_id: id BETWEEN 10 AND 20
-- oracle t by_kind: kind = 'k1x'
-- oracle t by_kind: kind = 'k1'

DELETE FROM t WHERE id >= 0;
SHOW INDEXES FROM t;
INSERT INTO t SELECT value, concat('k', value % 4) FROM generate_series(0, 99);
ALTER TABLE t REFRESH INDEXES;
-- oracle t by_id: id BETWEEN 10 AND 20
-- oracle t by_kind: kind = 'k1'

INSERT OVERWRITE t SELECT value, concat('k', value % 4) FROM generate_series(0, 9);
SHOW INDEXES FROM t;
ALTER TABLE t REFRESH INDEXES;
-- oracle t by_id: id BETWEEN 1 AND 20
-- oracle t by_kind: kind = 'k1'

-- Statements of the parameters that they were created with are no contradiction.
ALTER TABLE t REFRESH INDEX by_id WITH (rows_per_zone = 32);
ALTER TABLE t REFRESH INDEX by_kind WITH (number_of_items = 100);
SHOW INDEXES FROM t;
