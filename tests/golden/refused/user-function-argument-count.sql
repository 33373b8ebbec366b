INSERT INTO risks
SELECT STREAM RISK_SCORE(sensor) AS risk
FROM readings;
