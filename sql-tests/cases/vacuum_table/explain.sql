-- EXPLAIN tells what would go, and removes nothing.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
EXPLAIN VACUUM TABLE t WITH (older_than = '0 seconds');
VACUUM TABLE t WITH (older_than = '0 seconds');
INSERT INTO t VALUES (1);
INSERT INTO t VALUES (2);
OPTIMIZE TABLE t;
EXPLAIN VACUUM TABLE t;
EXPLAIN VACUUM TABLE t WITH (older_than = '0 seconds');
EXPLAIN VACUUM TABLE t WITH (older_than = '0 seconds', retain_versions = 2);
EXPLAIN VACUUM TABLE t WITH (older_than = '0.5 seconds', delete_unverified = true, retain_versions = 9);
EXPLAIN FORMAT tree VACUUM TABLE t WITH (older_than = '0 seconds');
VACUUM TABLE t WITH (older_than = '0 seconds');
EXPLAIN VACUUM TABLE t WITH (older_than = '0 seconds');
EXPLAIN ANALYZE VACUUM TABLE t WITH (older_than = '0 seconds');
CALL lance_index.vacuum_table(table => t, older_than => '1 day');
