-- Small tables for random queries: NULLs everywhere, an empty one, one row, a skewed key, duplicates, keys that do not meet.
CREATE TABLE empty_t AS SELECT 1 AS k, 1::BIGINT AS b, 'x' AS s, DATE '2020-01-01' AS d, 1.00::DECIMAL(9, 2) AS m, true AS f FROM range(0);
CREATE TABLE one_t AS SELECT 7 AS k, 70::BIGINT AS b, 'seven' AS s, DATE '2020-02-29' AS d, 7.70::DECIMAL(9, 2) AS m, true AS f;
CREATE TABLE nulls_t AS
SELECT NULL::INTEGER AS k, CASE WHEN n % 2 = 0 THEN n END AS b, NULL::VARCHAR AS s, NULL::DATE AS d, NULL::DECIMAL(9, 2) AS m, n % 3 = 0 AS f
FROM range(40) AS r(n);
CREATE TABLE small_t AS
SELECT
  CASE WHEN n % 7 = 3 THEN NULL ELSE (n % 12)::INTEGER END AS k,
  CASE WHEN n % 5 = 0 THEN NULL ELSE n * 10 END AS b,
  CASE WHEN n % 6 = 1 THEN NULL ELSE 's' || (n % 9) END AS s,
  CASE WHEN n % 8 = 2 THEN NULL ELSE DATE '2020-01-01' + (n % 15)::INTEGER END AS d,
  CASE WHEN n % 9 = 4 THEN NULL ELSE ((n % 17 - 8) * 0.25)::DECIMAL(9, 2) END AS m,
  CASE WHEN n % 4 = 1 THEN NULL ELSE n % 3 = 0 END AS f
FROM range(60) AS r(n);
-- Nine of ten rows have the key 3; long strings, so that more than an inlined one travels.
CREATE TABLE skewed_t AS
SELECT
  CASE WHEN n % 10 < 9 THEN 3 WHEN n % 40 = 9 THEN NULL ELSE (n % 200)::INTEGER END AS k,
  (n * 7919) % 1000 AS b,
  CASE WHEN n % 11 = 0 THEN NULL ELSE 'a rather long text that ends with ' || (n % 25) END AS s,
  DATE '2020-01-01' + (n % 31)::INTEGER AS d,
  (((n * 31) % 2000 - 1000) * 0.1)::DECIMAL(9, 2) AS m,
  n % 2 = 0 AS f
FROM range(3000) AS r(n);
CREATE TABLE wide_t AS
SELECT
  CASE WHEN hash(n) % 13 = 0 THEN NULL ELSE (hash(n) % 300)::INTEGER END AS k,
  (hash(n + 1) % 5000)::BIGINT AS b,
  CASE WHEN hash(n + 2) % 10 = 0 THEN NULL ELSE 's' || (hash(n + 2) % 40) END AS s,
  CASE WHEN hash(n + 3) % 10 = 0 THEN NULL ELSE DATE '2020-01-01' + (hash(n + 3) % 60)::INTEGER END AS d,
  CASE WHEN hash(n + 4) % 10 = 0 THEN NULL ELSE ((hash(n + 4) % 4000)::INTEGER * 0.13)::DECIMAL(9, 2) END AS m,
  CASE WHEN hash(n + 5) % 10 = 0 THEN NULL ELSE hash(n + 5) % 2 = 0 END AS f
FROM range(4000) AS r(n);
