-- A tombstone has no fields: only what even then is not null is written as never null.
INSERT INTO t STORE VALUE AS AVRO SELECT STREAM plate, COALESCE(speed, 0) AS speed, LEN(plate) AS n, _offset AS o FROM vehicles
