-- A version goes if it is old by all options.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1);
INSERT INTO t VALUES (2);
INSERT INTO t VALUES (3);
INSERT INTO t VALUES (4);
VACUUM TABLE t WITH (older_than = '1 week', retain_versions = 1);
VACUUM TABLE t WITH (older_than = '0 seconds', retain_versions = 9);
VACUUM TABLE t WITH (older_than = '0 seconds', retain_versions = 3);
VACUUM TABLE t WITH (Older_Than = ' 0  hours 0 seconds ', DELETE_UNVERIFIED = true);
SELECT * FROM t ORDER BY id;

-- What is wrong with them.
VACUUM TABLE t WITH (older_than = 7);
VACUUM TABLE t WITH (older_than = '7');
VACUUM TABLE t WITH (older_than = '');
VACUUM TABLE t WITH (older_than = NULL);
VACUUM TABLE t WITH (older_than = '-1 days');
VACUUM TABLE t WITH (older_than = '1 month');
VACUUM TABLE t WITH (older_than = '0.01 months');
VACUUM TABLE t WITH (older_than = '2 years');
VACUUM TABLE t WITH (older_than = 'yesterday');
VACUUM TABLE t WITH (older_than = '7 dais');
VACUUM TABLE t WITH (older = '7 days');
VACUUM TABLE t WITH (older_then = '7 days');
VACUUM TABLE t WITH (retain_versions = 0);
VACUUM TABLE t WITH (retain_versions = -1);
VACUUM TABLE t WITH (delete_unverified = 'yes');
VACUUM TABLE t WITH (delete_unverified = true, delete_unverified = false);
EXPLAIN VACUUM TABLE t WITH (older_than = '1 month');
VACUUM TABLE nothing;
