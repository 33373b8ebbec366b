INSERT INTO risks
SELECT STREAM RISK_SCOR(sensor, celsius, marks) AS risk
FROM readings;
