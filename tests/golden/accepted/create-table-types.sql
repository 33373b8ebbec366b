CREATE TABLE orders(_key long, id long not null, codes array<int not null>, labels map<string, string not null>,
  customer.address struct<city: string, country: string not null, `end`: date, from: decimal(9,2)> not null,
  lines array<struct<sku: string not null, tags: array<string>>>[] not null) FORMAT(LONG, JSON);
INSERT INTO t SELECT STREAM id + 1 AS next, codes[0] AS first, labels.x, customer.address.country, lines FROM orders
