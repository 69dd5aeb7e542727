-- A table of a million log lines, an index of each of six types, 200,000 lines more, and what
-- REFRESH makes of it. Run it in an empty directory: lance-sql -f demo.sql

CREATE EXTERNAL TABLE log (
    id BIGINT,
    at TIMESTAMP,
    host VARCHAR,
    path VARCHAR,
    status INT,
    millis DOUBLE,
    message VARCHAR
) STORED AS LANCE LOCATION 'log.lance';

INSERT INTO log
SELECT
    value,
    to_timestamp(1700000000 + value),
    concat('host-', value * 7919 % 40),
    concat('/item/', value * 104729 % 90000),
    CASE WHEN value % 97 = 0 THEN 500 ELSE 200 END,
    value * 7919 % 100003 / 100.0,
    concat(CASE WHEN value % 97 = 0 THEN 'timeout' ELSE 'served' END, ' order ', value % 5003)
FROM generate_series(1, 1000000);

CREATE INDEX log_id ON log (id);
CREATE INDEX log_status ON log USING bitmap (status);
CREATE INDEX log_at ON log USING zonemap (at) WITH (rows_per_zone = 4096);
CREATE INDEX log_host ON log USING bloomfilter (host);
CREATE INDEX log_path ON log USING ngram (path);
CREATE INDEX log_message ON log USING fts (message);

-- More lines come in. No index knows them; queries scan them.
INSERT INTO log
SELECT
    value,
    to_timestamp(1700000000 + value),
    concat('host-', value * 7919 % 40),
    concat('/item/', value * 104729 % 90000),
    CASE WHEN value % 97 = 0 THEN 500 ELSE 200 END,
    value * 7919 % 100003 / 100.0,
    concat(CASE WHEN value % 97 = 0 THEN 'timeout' ELSE 'served' END, ' order ', value % 5003)
FROM generate_series(1000001, 1200000);

-- Before: 83.33 percent, refresh due.
SHOW INDEXES FROM log;

-- What a refresh would do. This changes nothing.
EXPLAIN ALTER TABLE log REFRESH INDEXES;

ALTER TABLE log REFRESH INDEXES;

-- After: 100 percent, ready.
SHOW INDEXES FROM log;

-- Queries that use them, over old and new lines alike.
SELECT * FROM log WHERE id = 1100000;
SELECT count(*) AS errors FROM log WHERE status = 500;
SELECT count(*) AS of_one_item FROM log WHERE contains(path, '/item/4711');
EXPLAIN SELECT count(*) FROM log WHERE id = 1100000;
