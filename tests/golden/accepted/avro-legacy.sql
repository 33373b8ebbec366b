SET autocreate=true; INSERT INTO fastVehicles SELECT plate, speed FROM vehicles WHERE speed > 10 AND _ktype=AVRO AND _vtype=AVRO
