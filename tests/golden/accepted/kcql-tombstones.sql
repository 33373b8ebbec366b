SET autocreate=true;
UPSERT INTO shop.public.orders SELECT *, _key AS id FROM orders PK id
