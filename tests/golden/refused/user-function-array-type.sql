INSERT INTO risks
SELECT STREAM RISK_SCORE(sensor, celsius, ['a']) AS risk
FROM readings;
