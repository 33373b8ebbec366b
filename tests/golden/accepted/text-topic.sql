INSERT INTO upper.lines-2 SELECT STREAM UPPER(_value) AS _value FROM lines-of.text WHERE _value LIKE 'a%';
