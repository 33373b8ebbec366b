INSERT INTO risks
SELECT STREAM sensor, risk_score(sensor, 20, marks) AS risk
FROM readings
WHERE COALESCE(Risk_Score(sensor, celsius, [1, 2]), 0.0) > 0.5;
