SET defaults.topic.autocreate=true;

INSERT INTO users_per_country
SELECT TABLE COUNT(*) AS users, MAX(points) AS most
FROM users
GROUP BY country;

INSERT INTO large_countries
SELECT TABLE COUNT(*) AS users
FROM users
GROUP BY country
HAVING COUNT(*) > 1;
