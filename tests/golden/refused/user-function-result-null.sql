INSERT INTO risks
SELECT STREAM RISK_SCORE(sensor, celsius, marks) + 1.0 AS risk
FROM readings;
