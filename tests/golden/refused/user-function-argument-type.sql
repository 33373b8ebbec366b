INSERT INTO risks
SELECT STREAM RISK_SCORE(at, celsius, marks) AS risk
FROM readings;
