-- num_indices_to_merge leaves an index to Lance's own optimization.
CREATE EXTERNAL TABLE t (id INT, s VARCHAR) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 'a');
CREATE INDEX b ON t (id);
CREATE INDEX f ON t USING fts (s);
INSERT INTO t VALUES (2, 'b');
EXPLAIN ALTER TABLE t OPTIMIZE INDEX b WITH (num_indices_to_merge = 0);
ALTER TABLE t OPTIMIZE INDEX b WITH (num_indices_to_merge = 0);
ALTER TABLE t OPTIMIZE INDEX b WITH (num_indices_to_merge = 0);
ALTER TABLE t OPTIMIZE INDEX b WITH (num_indices_to_merge = 2);
INSERT INTO t VALUES (3, 'c');
ALTER TABLE t OPTIMIZE INDEXES WITH (num_indices_to_merge = 5);
SHOW INDEX SEGMENTS IN t;
-- oracle t b: id > 1

-- Not while a segment is stale: Lance would turn it into wrong rows.
CREATE EXTERNAL TABLE u (id INT, s VARCHAR) STORED AS LANCE LOCATION '{dir}/u' OPTIONS (enable_stable_row_ids true);
INSERT INTO u VALUES (1, 'a'), (2, 'a');
CREATE INDEX b ON u USING bitmap (s);
UPDATE u SET s = 'b' WHERE id = 1;
ALTER TABLE u OPTIMIZE INDEX b WITH (num_indices_to_merge = 0);
ALTER TABLE u REFRESH INDEX b;
ALTER TABLE u OPTIMIZE INDEX b WITH (num_indices_to_merge = 0);
-- oracle u b: s = 'a'
