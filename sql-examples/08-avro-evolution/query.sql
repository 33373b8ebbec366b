SET defaults.topic.autocreate=true;

-- All records as the newest schema has them, whichever they were written with.
INSERT INTO speeding
SELECT STREAM plate, speed, speedLimit, speed - speedLimit AS over
FROM vehicles
WHERE speed > speedLimit;

-- Nothing looks into these: they keep their bytes, and with them the schema that they were written with.
INSERT INTO vehicles_copy
SELECT STREAM * FROM vehicles;
