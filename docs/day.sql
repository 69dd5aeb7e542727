-- A day in the life of a table: made, indexed, searched, changed, compacted, cleaned up. Each step
-- leaves every index finding what a full scan finds. Run it in an empty directory:
-- lance-sql -f day.sql

-- Rows keep their ids when they are updated.
CREATE EXTERNAL TABLE tickets (
    id BIGINT,
    opened TIMESTAMP,
    state VARCHAR,
    labels VARCHAR[],
    price DOUBLE,
    message VARCHAR
) STORED AS LANCE LOCATION 'tickets.lance' OPTIONS (enable_stable_row_ids true);

INSERT INTO tickets
SELECT
    value,
    to_timestamp(1700000000 + value * 60),
    CASE value % 10 WHEN 0 THEN 'open' ELSE 'closed' END,
    [concat('team-', value % 7), CASE WHEN value % 3 = 0 THEN 'urgent' ELSE 'normal' END],
    value % 1000 / 10.0,
    concat('order ', value % 503, CASE WHEN value % 11 = 0 THEN ' arrived broken' ELSE ' is late' END)
FROM generate_series(1, 5000);

CREATE INDEX tickets_id ON tickets (id);
CREATE INDEX tickets_state ON tickets USING bitmap (state);
CREATE INDEX tickets_labels ON tickets USING label_list (labels);
CREATE INDEX tickets_opened ON tickets USING zonemap (opened) WITH (rows_per_zone = 512);
CREATE INDEX tickets_price ON tickets USING bloomfilter (price);
CREATE INDEX tickets_words ON tickets USING fts (message) WITH (stem = false, max_token_length = NULL);
CREATE INDEX tickets_text ON tickets USING ngram (message);
SHOW INDEXES FROM tickets;

-- Morning: new tickets come in, several times. No index knows them yet; queries find them all the same.
INSERT INTO tickets VALUES
    (5001, now(), 'open', ['team-1', 'urgent'], 12.5, 'order 7 arrived broken again'),
    (5002, now(), 'open', ['team-2'], 99.9, 'where is order 7');
INSERT INTO tickets
SELECT value, now(), 'open', ['team-3', 'normal'], 1.0, concat('order ', value, ' is late')
FROM generate_series(5003, 5200);
SELECT count(*) AS open_tickets FROM tickets WHERE state = 'open';
EXPLAIN ALTER TABLE tickets REFRESH INDEXES;
ALTER TABLE tickets REFRESH INDEXES;

-- Work: tickets are closed, and some turn out to be none.
UPDATE tickets SET state = 'closed', labels = ['done', labels[1]] WHERE state = 'open' AND id < 2500;
DELETE FROM tickets WHERE array_has(labels, 'team-6') AND price < 1;
UPDATE tickets
SET message = concat(message, ', escalated'), price = price + (SELECT max(price) FROM tickets)
WHERE id IN (SELECT id FROM tickets WHERE contains(message, 'broken') AND state = 'open');
SELECT id, message, round(_score, 1) AS score
FROM lance_fts('tickets', 'message', 'escalated broken')
ORDER BY _score DESC, id LIMIT 3;
SELECT count(*) AS broken FROM tickets WHERE contains_tokens(message, 'arrived broken');
ALTER TABLE tickets REFRESH INDEXES;

-- Evening: small fragments become large ones, indexes catch up, and what nobody needs goes.
EXPLAIN OPTIMIZE TABLE tickets;
OPTIMIZE TABLE tickets;
SHOW INDEXES FROM tickets;
SELECT index_name, fragments_indexed, segments_rewritten FROM lance_refresh_indexes('tickets');
EXPLAIN ALTER TABLE tickets OPTIMIZE INDEXES WITH (target_rows_per_segment = 100000, merge_factor = 2);
ALTER TABLE tickets OPTIMIZE INDEXES WITH (target_rows_per_segment = 100000, merge_factor = 2);
EXPLAIN VACUUM TABLE tickets WITH (older_than = '0 seconds');
VACUUM TABLE tickets WITH (older_than = '0 seconds');
SHOW INDEXES FROM tickets;
SHOW INDEX SEGMENTS FROM tickets;

-- A fresh start: other rows, the same indexes.
INSERT OVERWRITE tickets SELECT id, opened, state, labels, price, message FROM tickets WHERE state = 'open';
ALTER TABLE tickets REFRESH INDEXES;
SELECT count(*) AS still_open, min(id) AS oldest FROM tickets WHERE state = 'open';
SELECT count(*) AS late FROM lance_fts('tickets', 'message', 'late');
DROP INDEX tickets_text ON tickets;
SHOW INDEXES FROM tickets;
