-- A tombstone has no fields: only expressions that are not null for it either are written as non-nullable.
INSERT INTO t STORE VALUE AS AVRO SELECT STREAM plate, COALESCE(speed, 0) AS speed, LEN(plate) AS n, _offset AS o FROM vehicles
