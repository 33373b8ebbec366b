INSERT INTO out SELECT TABLE MAX(amount) AS largest, LAST(id) AS newest FROM payments GROUP BY currency
