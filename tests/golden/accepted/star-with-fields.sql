INSERT INTO out SELECT STREAM *, amount * 2 AS amount, _header.trace AS trace, HEADERASSTRING('trace') AS text FROM payments AS p WHERE p.ok;
