-- Columns whose names take quotes keep them through scans.
CREATE EXTERNAL TABLE t ("m X" INT, "per cent %" INT, "Order By" INT)
STORED AS LANCE LOCATION '{dir}/t';

INSERT INTO t VALUES (1, 2, 3), (4, 5, 6);

CREATE TABLE copy AS SELECT * FROM t;

SELECT "m X", "per cent %", "Order By" FROM copy ORDER BY "m X";

CREATE INDEX i ON t ("per cent %");

-- oracle t i: "per cent %" = 5
SELECT "Order By" FROM t WHERE "per cent %" = 5;
