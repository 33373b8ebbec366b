-- In legacy syntax, an operation with null returns null.
SET autocreate=true;
INSERT INTO t SELECT STREAM speed * 3.6 AS kmh FROM vehicles WHERE speed > 10;
INSERT INTO u SELECT UPPER(unit) AS u FROM readings WHERE celsius > 10 AND ok
