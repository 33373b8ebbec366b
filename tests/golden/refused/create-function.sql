CREATE FUNCTION risk(x int) RETURNS int LANGUAGE PYTHON AS 'return x';
INSERT INTO risks SELECT STREAM risk(at) AS risk FROM readings;
