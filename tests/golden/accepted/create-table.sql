-- CREATE TABLE takes precedence over other declarations of a topic.
CREATE TABLE payments(_key.id string, amount decimal(9,2), tags string[], customer.name string, customer.country string)
FORMAT(STRING, JSON);
CREATE TABLE vehicles(`plate` string, spots int[][]) FORMAT(STRING, AVRO);
INSERT INTO rich SELECT STREAM customer.name AS name, tags[0] AS tag, _key.id AS id FROM payments WHERE amount > 5;
INSERT INTO spots SELECT STREAM plate, spots[0] AS first FROM vehicles
