SET autocreate=true;

INSERT INTO fastVehiclesProcessor
SELECT MMSI, Speed, Longitude AS Long, Latitude AS Lat, `Timestamp`
FROM iot_data
WHERE Speed > 10 AND _ktype=STRING AND _vtype=JSON
