INSERT INTO t SELECT STREAM speed * 3.6 AS kmh FROM vehicles
