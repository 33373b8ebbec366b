CREATE TABLE reports (
  k BYTES, MMSI BIGINT, Speed DOUBLE, `Long` DOUBLE, Lat DOUBLE, `Timestamp` STRING
) WITH ({source}, 'key.fields' = 'k', 'value.fields-include' = 'EXCEPT_KEY', 'value.format' = 'json');

CREATE TABLE fast (
  k BYTES, MMSI BIGINT, Speed DOUBLE, `Long` DOUBLE, Lat DOUBLE, `Timestamp` STRING
) WITH ({target}, 'key.fields' = 'k', 'value.fields-include' = 'EXCEPT_KEY', 'value.format' = 'json');

INSERT INTO fast SELECT k, MMSI, Speed, `Long`, Lat, `Timestamp` FROM reports WHERE Speed > 10;
