-- Lance puts only fragments together that the same index segments cover. A REFRESH after each
-- append gives each its own segment, and keeps them apart; EXPLAIN says so.
CREATE EXTERNAL TABLE t (id INT, n INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 1), (2, 2);
CREATE INDEX i ON t (id);
INSERT INTO t VALUES (3, 3), (4, 4);
ALTER TABLE t REFRESH INDEX i;
INSERT INTO t VALUES (5, 5), (6, 6);
EXPLAIN OPTIMIZE TABLE t;
ALTER TABLE t REFRESH INDEX i;
EXPLAIN OPTIMIZE TABLE t;
OPTIMIZE TABLE t;

-- Compaction first leaves one fragment to refresh.
INSERT INTO t VALUES (7, 7);
INSERT INTO t VALUES (8, 8);
INSERT INTO t VALUES (9, 9);
EXPLAIN OPTIMIZE TABLE t;
OPTIMIZE TABLE t;
ALTER TABLE t REFRESH INDEX i;
SHOW INDEX SEGMENTS IN t;

-- oracle t i: id BETWEEN 2 AND 8

-- Made anew, the index has one segment, and all fragments become one.
CREATE OR REPLACE INDEX i ON t (id);
OPTIMIZE TABLE t;
SHOW INDEX SEGMENTS IN t;

-- oracle t i: id BETWEEN 2 AND 8
