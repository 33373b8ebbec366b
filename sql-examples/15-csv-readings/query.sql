SET defaults.topic.autocreate=true;

INSERT INTO hot_readings
SELECT STREAM sensor, celsius, celsius * 1.8 + 32 AS fahrenheit
FROM readings
WHERE celsius IS NOT NULL AND celsius > 40;

INSERT INTO readings_per_minute
SELECT STREAM sensor, COUNT(*) AS readings, COUNT(celsius) AS measured, MAX(celsius) AS hottest
FROM readings
EVENTTIME BY at
WINDOW BY TUMBLE 1m
GROUP BY sensor;
