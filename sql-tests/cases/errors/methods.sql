-- C05: a method that there isn't: the error points at it and lists those that there are.
CREATE EXTERNAL TABLE t (id INT) STORED AS LANCE LOCATION '{dir}/t';
CREATE INDEX i ON t USING gin (id);
CREATE INDEX i ON t USING btre (id);
ALTER TABLE t CREATE INDEX i USING 'Bit Map' (id);
CREATE INDEX i ON t USING hash (id);
