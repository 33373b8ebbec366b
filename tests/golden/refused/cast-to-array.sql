INSERT INTO t SELECT STREAM CAST(id AS array<int>) AS x FROM payments
