INSERT INTO out SELECT STREAM plate, speed AS `top speed` FROM vehicles
