SET defaults.topic.autocreate=true;
SET grace='1m';

INSERT INTO speed_averages
SELECT STREAM
  AVG(speed) AS averageSpeed,
  MIN(speed) AS slowest,
  MAX(speed) AS fastest,
  COUNT(*) AS readings
FROM vehicles
EVENTTIME BY measuredAt
WINDOW BY HOP 2m,1m;
