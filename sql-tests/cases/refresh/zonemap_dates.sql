-- C22: dates as text in three fragments, two appended later; each is found before and after
-- REFRESH, and after another that has nothing to do.
CREATE EXTERNAL TABLE t (id INT, d VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, '2024-01-01'), (2, '2024-01-01');
INSERT INTO t VALUES (3, '2024-01-02');
INSERT INTO t VALUES (4, '2024-01-03'), (5, NULL);
CREATE INDEX d_idx ON t USING zonemap (d);
INSERT INTO t VALUES (6, '2024-01-04');
INSERT INTO t VALUES (7, '2024-01-05');

-- oracle t d_idx: d = '2024-01-01'
-- oracle t d_idx: d = '2024-01-02'
-- oracle t d_idx: d = '2024-01-03'
-- oracle t d_idx: d = '2024-01-04'
-- oracle t d_idx: d = '2024-01-05'

ALTER TABLE t REFRESH INDEX d_idx;
SHOW INDEX SEGMENTS IN t;

-- oracle t d_idx: d = '2024-01-01'
-- oracle t d_idx: d = '2024-01-02'
-- oracle t d_idx: d = '2024-01-03'
-- oracle t d_idx: d = '2024-01-04'
-- oracle t d_idx: d = '2024-01-05'
-- oracle t d_idx: d > '2024-01-01' AND d < '2024-01-05'
-- oracle t d_idx: d IS NULL

ALTER TABLE t REFRESH INDEX d_idx;

-- oracle t d_idx: d = '2024-01-04'
