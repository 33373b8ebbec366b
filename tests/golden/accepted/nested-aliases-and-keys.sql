INSERT INTO out SELECT STREAM id AS _key.order, customer.name AS _key.who.name, id AS a.b, codes AS a.c, _offset, _ts, _meta.partition AS p FROM orders;
