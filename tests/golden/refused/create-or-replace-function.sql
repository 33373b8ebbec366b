CREATE OR REPLACE TEMPORARY FUNCTION risk AS 'com.example.Risk' USING JAR 'risk.jar';
INSERT INTO risks SELECT STREAM risk(at) AS risk FROM readings;
