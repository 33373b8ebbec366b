SET defaults.topic.autocreate=true;

-- All records with the latest schema, whatever their writer schemas are.
INSERT INTO speeding
SELECT STREAM plate, speed, speedLimit, speed - speedLimit AS over
FROM vehicles
WHERE speed > speedLimit;

-- These records are copied: they keep their bytes, and therefore their writer schemas.
INSERT INTO vehicles_copy
SELECT STREAM * FROM vehicles;
