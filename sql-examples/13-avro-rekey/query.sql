SET defaults.topic.autocreate=true;
SET defaults.topic.key.avro.record='CityAndProduct';

INSERT INTO sales_by_city
STORE KEY AS AVRO VALUE AS AVRO
SELECT STREAM
  shop.city AS _key.city,
  product AS _key.product,
  amount
FROM sales;
