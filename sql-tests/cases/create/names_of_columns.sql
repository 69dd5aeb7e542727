-- C13: an unquoted name is folded to lower case; where that is no column, the only one that
-- differs in case is taken. A quoted name finds its column as it is.
CREATE EXTERNAL TABLE t ("entityId" INT, id INT, "ID" INT, "my-column" INT) STORED AS LANCE LOCATION '{dir}/t';
INSERT INTO t VALUES (1, 2, 3, 4);
CREATE INDEX unquoted ON t (entityId);
CREATE INDEX quoted ON t ("entityId");
CREATE INDEX lower ON t (ID);
CREATE INDEX upper ON t ("ID");
CREATE INDEX "my-index" ON t ("my-column");
SHOW INDEXES IN t;

-- Neither is this one exactly, so that it may be either.
CREATE INDEX ambiguous ON t ("Id");

-- C15: a name that has to be quoted prints so.
ALTER TABLE t REFRESH INDEX my-index;
ALTER TABLE t REFRESH INDEX "my-index";
EXPLAIN ALTER TABLE t REFRESH INDEX "my-index";
DROP INDEX "my-index" ON t;

-- oracle t: "entityId" = 1
-- oracle t upper: "ID" = 3
