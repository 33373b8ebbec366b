CREATE TABLE reports (
  k BYTES, MMSI BIGINT NOT NULL, Speed DOUBLE NOT NULL, `Long` DOUBLE NOT NULL, Lat DOUBLE NOT NULL,
  `Timestamp` STRING NOT NULL
) WITH (
  {source}, 'key.fields' = 'k', 'value.fields-include' = 'EXCEPT_KEY', 'value.format' = 'bench-avro',
  'value.bench-avro.url' = '{registry}'
);

CREATE TABLE fast (
  k BYTES, MMSI BIGINT NOT NULL, Speed DOUBLE NOT NULL, `Long` DOUBLE NOT NULL, Lat DOUBLE NOT NULL,
  `Timestamp` STRING NOT NULL
) WITH (
  {target}, 'key.fields' = 'k', 'value.fields-include' = 'EXCEPT_KEY', 'value.format' = 'bench-avro',
  'value.bench-avro.url' = '{registry}', 'value.bench-avro.schema-id' = '{schema_id}'
);

INSERT INTO fast SELECT k, MMSI, Speed, `Long`, Lat, `Timestamp` FROM reports WHERE Speed > 10;
