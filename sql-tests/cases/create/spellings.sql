-- CREATE INDEX and ALTER TABLE ... CREATE INDEX are the same statement. Keywords, option names and
-- unquoted identifiers have no case.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1), (2), (3);
CREATE INDEX a ON t USING zonemap (id) WITH (rows_per_zone = 2);
ALTER TABLE t CREATE INDEX b USING zonemap (id) WITH (rows_per_zone = 2);
alter table T create index C using ZoneMap (ID) with (Rows_Per_Zone = 2);
SELECT 1;
SHOW INDEXES IN t;
