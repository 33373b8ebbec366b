INSERT INTO risks
SELECT STREAM RISK_SCORE(unit, celsius, marks) AS risk
FROM readings;
