SET defaults.topic.autocreate=true;
SET defaults.topic.value.avro.record='HotReading';
SET defaults.topic.value.avro.namespace='com.example.sensors';

INSERT INTO hot_readings
SELECT STREAM
  sensor,
  celsius,
  celsius * 1.8 + 32 AS fahrenheit,
  place.room AS room
FROM readings
WHERE celsius > 80 AND state = 'ACTIVE';
