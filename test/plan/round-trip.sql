-- A statement a line: of every function family, every kind of node and every type, over the tables of test/slt/fixture.sql. Each is
-- printed from its plan, and both texts must give the same rows; after `error:` both must fail; after `whole:` it cannot be printed.
-- scans, filters, projections
SELECT * FROM employees
SELECT count(*) FROM employees
SELECT 1 FROM employees
SELECT id FROM employees WHERE salary > 5000 AND active
SELECT id, name AS "select", dept AS "a""b" FROM employees WHERE dept IS NOT NULL OR hired < DATE '2018-01-01'
SELECT id + 1, -id, id * 2.5, id / 2, id // 2, id % 3, id ** 2, +id FROM employees
SELECT id FROM employees WHERE id BETWEEN 2 AND 5
SELECT id FROM employees WHERE id NOT BETWEEN 2 AND 5
SELECT id FROM employees WHERE id > 2 AND id < 6
SELECT id FROM employees WHERE dept IN ('sales', 'research')
SELECT id FROM employees WHERE dept NOT IN ('sales', 'research')
SELECT id FROM employees WHERE dept NOT IN ('sales', NULL)
SELECT id FROM employees WHERE (dept = 'sales') IS NOT TRUE
SELECT id FROM employees WHERE dept IS DISTINCT FROM 'sales'
SELECT id FROM employees WHERE dept IS NOT DISTINCT FROM NULL
SELECT id FROM employees WHERE NOT (active AND salary > 5000)
SELECT CASE WHEN salary > 7000 THEN 'high' WHEN salary > 5000 THEN 'mid' END FROM employees
SELECT CASE dept WHEN 'sales' THEN 1 WHEN 'research' THEN 2 ELSE 0 END FROM employees
SELECT coalesce(dept, name, 'x'), ifnull(manager, 0), nullif(dept, 'sales') FROM employees
SELECT if(active, 1, 2), CAST(salary AS INTEGER), TRY_CAST(name AS INTEGER), TRY(1 / id) FROM employees
SELECT id::TINYINT, id::UBIGINT, id::HUGEINT, id::UHUGEINT, id::FLOAT, id::DECIMAL(20, 4), id::VARCHAR FROM employees
SELECT * FROM (SELECT id, row_number() OVER () AS n FROM (SELECT id FROM employees ORDER BY id DESC)) WHERE n < 4
SELECT * FROM employees WHERE false
SELECT * FROM empty
SELECT DISTINCT dept FROM employees
SELECT DISTINCT dept, active FROM employees
SELECT DISTINCT ON (dept) dept, id FROM employees ORDER BY dept, salary DESC NULLS LAST, id
SELECT DISTINCT ON (dept, active) name FROM employees ORDER BY dept, active, id
SELECT DISTINCT ON (id % 3) id FROM employees ORDER BY id % 3, id DESC
SELECT DISTINCT * FROM (SELECT id % 2 AS a, id % 2 AS b FROM employees)
-- sorts and limits
SELECT id FROM employees ORDER BY id
SELECT name FROM employees ORDER BY dept DESC NULLS FIRST, id
SELECT name FROM employees ORDER BY salary NULLS LAST, id LIMIT 3
SELECT name FROM employees ORDER BY id LIMIT 3 OFFSET 2
SELECT name FROM employees ORDER BY id OFFSET 5
SELECT name FROM employees ORDER BY id LIMIT 50%
SELECT name FROM employees ORDER BY id LIMIT (SELECT 2)
SELECT name FROM employees ORDER BY id LIMIT (SELECT 2) OFFSET (SELECT count(*) FROM departments)
SELECT name FROM employees ORDER BY id LIMIT (SELECT 25.0)%
SELECT id, 10 / (id - 8) FROM (SELECT id FROM employees ORDER BY id LIMIT 3)
SELECT name FROM employees ORDER BY lower(name) DESC
SELECT name FROM employees ORDER BY name COLLATE NOCASE
SELECT upper(name) FROM employees ORDER BY 1
SELECT id FROM employees ORDER BY ALL
SELECT max(id) FROM (SELECT id FROM employees ORDER BY id LIMIT 3)
SELECT * FROM (SELECT id FROM employees ORDER BY id LIMIT 5) ORDER BY id DESC LIMIT 2
-- aggregates
SELECT dept, count(*), count(salary), sum(salary), avg(salary), min(salary), max(salary) FROM employees GROUP BY dept
SELECT count(DISTINCT dept), sum(DISTINCT id % 3), avg(DISTINCT id % 4) FROM employees
SELECT dept, count(*) FILTER (WHERE active), sum(salary) FILTER (WHERE id > 2) FROM employees GROUP BY dept
SELECT dept, active, count(*) FROM employees GROUP BY GROUPING SETS ((dept, active), (dept), ())
SELECT dept, active, count(*), grouping(dept), grouping(active), grouping(dept, active) FROM employees GROUP BY ROLLUP (dept, active)
SELECT dept, active, hired, count(*) FROM employees GROUP BY CUBE (dept, active), hired
SELECT id % 2, upper(dept), count(*), grouping(id % 2) FROM employees GROUP BY CUBE (id % 2, upper(dept))
SELECT dept, count(*) FROM employees GROUP BY GROUPING SETS ((dept), (dept), ())
SELECT dept FROM employees GROUP BY dept
SELECT dept, sum(salary) AS s FROM employees GROUP BY dept HAVING sum(salary) > 10000
SELECT dept, dept, count(*) FROM employees GROUP BY 1, 2
SELECT 'x', count(*) FROM employees GROUP BY 1
SELECT count(*), sum(id) FROM empty
SELECT id, count(*) FROM empty GROUP BY id
SELECT count(*) FROM employees HAVING count(*) > 100
SELECT sum(id), sum(id::BIGINT), sum(id::HUGEINT), sum(id::DOUBLE), sum(salary), avg(id), avg(salary) FROM employees
SELECT first(name ORDER BY id), last(name ORDER BY id), any_value(dept ORDER BY id), arbitrary(name ORDER BY id DESC) FROM employees
SELECT list(name ORDER BY salary DESC NULLS LAST, id), array_agg(dept ORDER BY id) FROM employees
SELECT dept, list(DISTINCT id % 2 ORDER BY id % 2) FROM employees GROUP BY dept
SELECT list(name ORDER BY id) FILTER (WHERE active) FROM employees
SELECT string_agg(name, ', ' ORDER BY id), group_concat(name, '' ORDER BY id DESC), listagg(dept, '|' ORDER BY id), string_agg(name ORDER BY id) FROM employees
SELECT string_agg(DISTINCT dept, '-' ORDER BY dept) FROM employees
SELECT arg_min(name, salary), arg_max(name, salary), min_by(name, id), max_by(name, id), arg_min_null(dept, id), arg_max_null(dept, -id) FROM employees
SELECT arg_min(name, id, 3), arg_max(name, id, 2), min(id, 3), max(name, 2), max_by(id, salary, 2) FROM employees
SELECT median(salary), median(id), mode(active), mad(salary), quantile(id, 0.3), quantile_disc(salary, 0.5), quantile_cont(salary, 0.25) FROM employees
SELECT quantile_cont(id, [0.25, 0.5, 0.75]), quantile_disc(name, [0.1, 0.9]), quantile_cont(id, -0.25), quantile_disc(id, 0.5 ORDER BY id DESC) FROM employees
SELECT percentile_cont(0.3) WITHIN GROUP (ORDER BY id), percentile_disc(0.7) WITHIN GROUP (ORDER BY name DESC), mode() WITHIN GROUP (ORDER BY active) FROM employees
SELECT dept, quantile_cont(hired, 0.5), median(hired) FROM employees GROUP BY dept
SELECT approx_count_distinct(dept), approx_quantile(id, 0.5), approx_quantile(id, [0.25, 0.75]), approx_quantile(salary, 0.1) FROM employees
SELECT approx_top_k(dept, 2), histogram(id % 3), histogram(id, [2, 4, 6]), histogram_exact(id, [1, 2, 3]) FROM employees
SELECT reservoir_quantile(id, 0.5), reservoir_quantile(id, 0.5, 100), reservoir_quantile(id, [0.2, 0.8], 50) FROM employees
SELECT stddev(id), stddev_pop(id), stddev_samp(id), var_pop(id), var_samp(id), variance(id), sem(id), skewness(id), kurtosis(id), kurtosis_pop(id) FROM employees
SELECT covar_pop(id, manager), covar_samp(id, manager), corr(id, manager), regr_slope(id, manager), regr_intercept(id, manager), regr_r2(id, manager), regr_count(id, manager) FROM employees
SELECT regr_avgx(id, manager), regr_avgy(id, manager), regr_sxx(id, manager), regr_syy(id, manager), regr_sxy(id, manager) FROM employees
SELECT bit_and(id), bit_or(id), bit_xor(id), bool_and(active), bool_or(active), count_if(active), countif(id > 3), product(id) FROM employees
SELECT bitstring_agg(id), bitstring_agg(id, 1, 20) FROM employees
SELECT entropy(dept), favg(id), fsum(id), kahan_sum(salary), sumkahan(id::DOUBLE), geomean(id), geometric_mean(id), weighted_avg(salary, id), wavg(id, id) FROM employees
SELECT max(name), min(name), max(hired), min(active), max(tags), min(point) FROM employees, nested
SELECT sum(v), avg(v), sum(v * 2), count(label) FROM series
SELECT grp, sum(v), max(day), min(label), count(DISTINCT label) FROM series GROUP BY grp
SELECT date_trunc('month', day), count(*) FROM series GROUP BY 1
SELECT name COLLATE NOCASE, count(*) FROM employees GROUP BY 1
SELECT sum(i), sum(l), sum(f), sum(dec9), sum(dec18), sum(dec38) FROM types WHERE id = 1
SELECT min(b), max(d), min(dt), max(tm), min(ts), max(tz), min(u), max(bin) FROM types
SELECT interval_col, count(*) FROM (SELECT to_days(id % 2) AS interval_col FROM employees) GROUP BY 1
SELECT count(*) FILTER (WHERE true), sum(1), sum(NULL::INTEGER) FROM employees
-- joins
SELECT e.name, d.floor FROM employees e JOIN departments d ON e.dept = d.name
SELECT e.name, d.floor FROM employees e LEFT JOIN departments d ON e.dept = d.name
SELECT e.name, d.floor FROM employees e RIGHT JOIN departments d ON e.dept = d.name
SELECT e.name, d.floor FROM employees e FULL JOIN departments d ON e.dept = d.name
SELECT e.name, d.floor FROM employees e FULL JOIN departments d ON e.dept = d.name AND e.id > 3
SELECT e.name, d.floor FROM employees e LEFT JOIN departments d ON e.dept = d.name AND d.floor > 1 WHERE d.floor IS NULL
SELECT e.name, m.name FROM employees e LEFT JOIN employees m ON e.manager = m.id AND m.salary > e.salary
SELECT a.id, b.id FROM employees a JOIN employees b ON a.id < b.id AND a.salary > b.salary
SELECT a.id, b.id FROM employees a LEFT JOIN employees b ON a.id < b.id OR a.dept = b.dept
SELECT a.id, b.id FROM employees a FULL JOIN employees b ON a.id + b.id = 7 AND a.name < b.name
SELECT count(*) FROM employees, departments
SELECT count(*) FROM employees CROSS JOIN departments d WHERE d.floor > employees.id
SELECT * FROM employees POSITIONAL JOIN departments
SELECT * FROM employees NATURAL JOIN (SELECT id, dept FROM employees)
SELECT * FROM employees JOIN (SELECT id, floor FROM employees, departments) USING (id)
SELECT name FROM employees SEMI JOIN departments ON employees.dept = departments.name
SELECT name FROM employees ANTI JOIN departments ON employees.dept = departments.name
SELECT name FROM employees e SEMI JOIN departments d ON e.dept = d.name AND e.id > d.floor
SELECT e.id, d.name FROM employees e JOIN departments d ON e.dept IS NOT DISTINCT FROM d.name
SELECT e.id, d.id FROM employees e JOIN employees d ON e.dept IS DISTINCT FROM d.dept
SELECT a.id, b.id, c.name FROM employees a JOIN employees b ON a.manager = b.id JOIN departments c ON c.name = b.dept WHERE a.salary > 5000
SELECT a.id FROM employees a LEFT JOIN (employees b JOIN departments c ON b.dept = c.name) ON a.manager = b.id
SELECT q.d, e.name FROM (VALUES (DATE '2016-08-01'), (DATE '2020-01-01')) q(d) ASOF JOIN (SELECT * FROM employees WHERE id <> 4) e ON q.d >= e.hired
SELECT q.d, e.name FROM (VALUES (DATE '2014-08-01'), (DATE '2020-01-01')) q(d) ASOF LEFT JOIN (SELECT * FROM employees WHERE id <> 4) e ON q.d > e.hired
SELECT a.id, b.id FROM employees a ASOF JOIN employees b ON a.dept = b.dept AND a.id > b.id
SELECT count(*) FROM series a JOIN series b ON a.id = b.id WHERE a.grp = 3
SELECT e.name FROM employees e, (SELECT max(salary) AS m FROM employees) WHERE salary = m
SELECT a.id FROM employees a JOIN empty b ON a.id = b.id
SELECT a.id, b.name FROM employees a LEFT JOIN empty b ON a.id = b.id
-- subqueries
SELECT name, dept IN (SELECT name FROM departments) FROM employees
SELECT name, dept NOT IN (SELECT name FROM departments) FROM employees
SELECT name, manager IN (SELECT manager FROM employees) FROM employees
SELECT name, manager NOT IN (SELECT manager FROM employees) FROM employees
SELECT name, manager IN (SELECT id FROM empty) FROM employees
SELECT name FROM employees WHERE manager NOT IN (SELECT manager FROM employees WHERE manager IS NOT NULL)
SELECT name, (id, manager) IN (SELECT id, manager FROM employees) FROM employees
SELECT name, (manager, dept) NOT IN (SELECT manager, dept FROM employees WHERE id < 5) FROM employees
SELECT name, salary > ANY (SELECT salary FROM employees WHERE dept = 'sales') FROM employees
SELECT name, salary >= ALL (SELECT salary FROM employees WHERE dept = 'research') FROM employees
SELECT name, salary <> ANY (SELECT salary FROM employees) FROM employees
SELECT name, EXISTS (SELECT 1 FROM departments d WHERE d.name = e.dept) FROM employees e
SELECT name, NOT EXISTS (SELECT 1 FROM departments d WHERE d.name = e.dept AND d.floor > 1) FROM employees e
SELECT name, EXISTS (SELECT 1 FROM departments) FROM employees
SELECT name, EXISTS (SELECT 1 FROM departments d WHERE d.floor < e.id) FROM employees e
SELECT name, e.manager IN (SELECT m.id FROM employees m WHERE m.dept = e.dept) FROM employees e
SELECT name, e.manager NOT IN (SELECT m.manager FROM employees m WHERE m.dept = e.dept) FROM employees e
SELECT name, e.manager IN (SELECT m.manager FROM employees m WHERE m.id > e.id) FROM employees e
SELECT name, e.salary > ANY (SELECT m.salary FROM employees m WHERE m.dept = e.dept) FROM employees e
SELECT name, e.salary <= ALL (SELECT m.salary FROM employees m WHERE m.dept = e.dept) FROM employees e
SELECT name, (SELECT max(salary) FROM employees) FROM employees
SELECT name, (SELECT floor FROM departments d WHERE d.name = e.dept) FROM employees e
SELECT name, (SELECT count(*) FROM employees m WHERE m.manager = e.id) FROM employees e
SELECT name, (SELECT name FROM employees m WHERE m.id = e.manager AND m.salary > e.salary) FROM employees e
error: SELECT name, (SELECT id FROM employees m WHERE m.manager = e.id) FROM employees e
error: SELECT (SELECT id FROM employees)
SELECT name, (SELECT m.name FROM employees m WHERE m.dept = e.dept ORDER BY m.salary DESC NULLS LAST, m.id LIMIT 1) FROM employees e
SELECT name, (SELECT sum(m.id) FROM employees m WHERE m.id < e.id) FROM employees e
SELECT name FROM employees e WHERE salary > (SELECT avg(salary) FROM employees m WHERE m.dept = e.dept)
SELECT name FROM employees e WHERE EXISTS (SELECT 1 FROM employees m WHERE m.manager = e.id AND m.salary > (SELECT avg(salary) FROM employees x WHERE x.dept = e.dept))
SELECT d.name, x.name FROM departments d, LATERAL (SELECT name FROM employees e WHERE e.dept = d.name ORDER BY id LIMIT 2) x
SELECT d.name, x.n FROM departments d LEFT JOIN LATERAL (SELECT count(*) AS n FROM employees e WHERE e.dept = d.name) x ON true
SELECT d.name, x.s FROM departments d, LATERAL (SELECT d.floor + 1 AS s) x
SELECT name, (SELECT (SELECT e.id + d.floor FROM departments d WHERE d.name = e.dept)) FROM employees e
SELECT id, [x + id FOR x IN [1, 2, 3]] FROM employees
SELECT ARRAY(SELECT id FROM employees ORDER BY id), ARRAY(SELECT name FROM departments ORDER BY name DESC)
SELECT name, ARRAY(SELECT m.id FROM employees m WHERE m.manager = e.id ORDER BY m.id) FROM employees e
SELECT e.id, u.x FROM employees e, LATERAL (SELECT unnest([e.id, e.manager]) AS x) u
SELECT id, (SELECT d FROM (VALUES (e.id), (e.manager)) v(d) WHERE d > 3) FROM employees e WHERE id < 4
SELECT n.id, u.t FROM nested n, unnest(n.tags) u(t)
SELECT n.id, u.t FROM nested n LEFT JOIN LATERAL unnest(n.tags) u(t) ON true
SELECT e.id, r.i FROM employees e, LATERAL range(e.id) r(i)
SELECT e.id, r.i FROM employees e, LATERAL generate_series(1, e.id, 2) r(i)
SELECT i, y FROM range(3) r(i), unnest([i, 2]) x(y)
-- windows
SELECT id, row_number() OVER (ORDER BY id), rank() OVER (ORDER BY dept), dense_rank() OVER (ORDER BY dept), rank_dense() OVER (ORDER BY dept) FROM employees
SELECT id, percent_rank() OVER (ORDER BY dept), cume_dist() OVER (ORDER BY dept), ntile(3) OVER (ORDER BY id) FROM employees
SELECT id, lag(id) OVER w, lead(id) OVER w, lag(id, 2) OVER w, lead(id, 2, -1) OVER w, lag(name, 1, 'none') OVER w FROM employees WINDOW w AS (ORDER BY id)
SELECT id, first_value(name) OVER w, last_value(name) OVER w, nth_value(name, 2) OVER w FROM employees WINDOW w AS (PARTITION BY dept ORDER BY id)
SELECT id, first_value(dept IGNORE NULLS) OVER (ORDER BY id DESC), last_value(manager IGNORE NULLS) OVER (ORDER BY id), nth_value(dept, 2 IGNORE NULLS) OVER (ORDER BY id), lag(manager IGNORE NULLS) OVER (ORDER BY id) FROM employees
SELECT id, sum(id) OVER (), sum(id) OVER (PARTITION BY dept), sum(id) OVER (PARTITION BY dept ORDER BY id), avg(salary) OVER (ORDER BY id) FROM employees
SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING), sum(id) OVER (ORDER BY id ROWS 2 PRECEDING), sum(id) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM employees
SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN 3 PRECEDING AND 1 PRECEDING), sum(id) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING), sum(id) OVER (ORDER BY id ROWS CURRENT ROW) FROM employees
SELECT id, sum(id) OVER (ORDER BY id RANGE BETWEEN 2 PRECEDING AND 1 FOLLOWING), sum(id) OVER (ORDER BY id DESC RANGE BETWEEN 2 PRECEDING AND CURRENT ROW) FROM employees
SELECT id, count(*) OVER (ORDER BY hired RANGE BETWEEN INTERVAL 1 YEAR PRECEDING AND INTERVAL 6 MONTH FOLLOWING), count(*) OVER (ORDER BY salary RANGE BETWEEN 1000.5 PRECEDING AND UNBOUNDED FOLLOWING) FROM employees
SELECT id, count(*) OVER (ORDER BY dept GROUPS BETWEEN 1 PRECEDING AND CURRENT ROW), count(*) OVER (ORDER BY dept GROUPS 1 PRECEDING) FROM employees
SELECT id, sum(id) OVER (ORDER BY id ROWS BETWEEN id PRECEDING AND id FOLLOWING), sum(id) OVER (ORDER BY id RANGE BETWEEN id % 3 PRECEDING AND 1 FOLLOWING) FROM employees
SELECT id, sum(id) OVER (ORDER BY dept ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE CURRENT ROW) FROM employees
SELECT id, sum(id) OVER (ORDER BY dept ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE GROUP), sum(id) OVER (ORDER BY dept ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING EXCLUDE TIES) FROM employees
SELECT id, count(*) FILTER (WHERE active) OVER (PARTITION BY dept), count(DISTINCT dept) OVER (ORDER BY id), list(id) OVER (ORDER BY id ROWS 1 PRECEDING) FROM employees
SELECT id, list(name ORDER BY id DESC) OVER (PARTITION BY dept), string_agg(name, '/' ORDER BY id) OVER (PARTITION BY dept), first_value(name ORDER BY salary DESC NULLS LAST, id) OVER (PARTITION BY dept) FROM employees
SELECT id, row_number(ORDER BY id DESC) OVER (PARTITION BY dept), rank(ORDER BY salary) OVER (ORDER BY id ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) FROM employees
SELECT id, median(salary) OVER (PARTITION BY dept), quantile_cont(id, 0.3) OVER (PARTITION BY dept), mode(dept) OVER (PARTITION BY dept), arg_max(name, id) OVER (PARTITION BY dept), max(id, 2) OVER (PARTITION BY dept) FROM employees
SELECT id, fill(salary) OVER (ORDER BY id) FROM employees
SELECT id, sum(sum(id)) OVER (ORDER BY id) FROM employees GROUP BY id
SELECT id FROM employees QUALIFY row_number() OVER (PARTITION BY dept ORDER BY salary DESC NULLS LAST, id) = 1
SELECT id, n FROM (SELECT id, ntile(id) OVER (ORDER BY id) AS n FROM employees) WHERE n = 1
SELECT grp, sum(v) OVER (PARTITION BY grp ORDER BY id ROWS 10 PRECEDING) FROM series WHERE id < 1000
SELECT id, count(*) OVER (ORDER BY tm RANGE BETWEEN INTERVAL 1 HOUR PRECEDING AND CURRENT ROW), count(*) OVER (ORDER BY ts RANGE BETWEEN INTERVAL 100 YEAR PRECEDING AND CURRENT ROW) FROM types WHERE id < 3
-- set operations
SELECT id FROM employees UNION SELECT floor FROM departments
SELECT id FROM employees UNION ALL SELECT floor FROM departments
SELECT dept FROM employees INTERSECT SELECT name FROM departments
SELECT dept FROM employees EXCEPT SELECT name FROM departments
SELECT dept FROM employees INTERSECT ALL SELECT dept FROM employees WHERE id < 5
SELECT dept FROM employees EXCEPT ALL SELECT dept FROM employees WHERE id < 3
SELECT id, name FROM employees UNION ALL BY NAME SELECT name, floor FROM departments
(SELECT id FROM employees ORDER BY id LIMIT 2) UNION ALL (SELECT floor FROM departments ORDER BY floor LIMIT 1)
SELECT id FROM employees UNION ALL SELECT floor FROM departments UNION ALL SELECT 7 ORDER BY 1
SELECT * FROM (SELECT id FROM employees UNION SELECT floor FROM departments) WHERE id > 2
SELECT 1 UNION SELECT 1.5 UNION SELECT NULL
-- common table expressions
WITH x AS (SELECT dept, sum(salary) AS s FROM employees GROUP BY dept) SELECT a.dept, b.s FROM x a JOIN x b ON a.dept = b.dept
WITH x AS MATERIALIZED (SELECT * FROM employees WHERE id > 2) SELECT count(*) FROM x WHERE id < 6
WITH x AS NOT MATERIALIZED (SELECT * FROM employees) SELECT count(*) FROM x, x y
WITH x AS MATERIALIZED (SELECT id FROM employees), y AS MATERIALIZED (SELECT id + 1 AS id FROM x) SELECT * FROM x JOIN y USING (id)
WITH x AS MATERIALIZED (SELECT id FROM employees) SELECT * FROM (WITH y AS MATERIALIZED (SELECT id FROM x WHERE id > 2) SELECT a.id FROM y a, y b WHERE a.id = b.id)
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 5) SELECT * FROM r
WITH RECURSIVE r(n, s) AS (SELECT 1, 'a' UNION SELECT n % 3 + 1, s FROM r) SELECT * FROM r
WITH RECURSIVE up AS (SELECT id, manager, 0 AS depth FROM employees WHERE manager IS NULL UNION ALL SELECT e.id, e.manager, depth + 1 FROM employees e JOIN up ON e.manager = up.id) SELECT * FROM up
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 3) SELECT a.n, b.n FROM r a, r b
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL (WITH s AS MATERIALIZED (SELECT n FROM r) SELECT max(a.n) + 1 FROM s a, s b WHERE a.n < 4 HAVING max(a.n) IS NOT NULL)) SELECT * FROM r
whole: WITH RECURSIVE r(k, v) USING KEY (k) AS (SELECT 1, 0 UNION SELECT k, v + 1 FROM r WHERE v < 3) SELECT * FROM r
WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + (SELECT count(*) FROM departments) FROM r WHERE n < 9) SELECT * FROM r
-- unnest, generators, values
SELECT id, unnest(tags) FROM nested
SELECT id, unnest(tags), unnest(grid) FROM nested
SELECT id, unnest(point) FROM nested
SELECT id, unnest(lines, recursive := true) FROM nested
SELECT unnest([1, 2, 3]), unnest(['a', 'b'])
SELECT id, generate_subscripts(tags, 1) FROM nested
SELECT * FROM range(5)
SELECT * FROM range(2, 10, 3) r(x)
SELECT * FROM generate_series(3, 1, -1)
SELECT * FROM generate_series(DATE '2024-01-01', DATE '2024-01-10', INTERVAL 3 DAY)
SELECT * FROM range(TIMESTAMP '2024-01-01', TIMESTAMP '2024-01-02', INTERVAL 6 HOUR)
SELECT * FROM range(3) WITH ORDINALITY
SELECT * FROM unnest(['x', 'y'])
SELECT * FROM unnest([1, 2]) WITH ORDINALITY AS u(v, o)
SELECT * FROM repeat('x', 3)
SELECT * FROM repeat_row(1, 'a', num_rows := 2)
SELECT count(*) FROM range(100000)
SELECT * FROM (VALUES (1, 'a'), (2, NULL), (NULL, 'c')) v(x, y)
SELECT * FROM (VALUES (1.5), (2)) v(x)
VALUES (1, DATE '2024-01-01'), (2, NULL)
SELECT id FROM employees WHERE id IN (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15)
SELECT id FROM employees WHERE (id, dept) IN ((1, 'research'), (2, 'sales'))
SELECT * FROM json_each('{"a": 1, "b": [2, 3]}')
SELECT key, value, type FROM json_tree('{"a": 1, "b": [2, 3]}')
SELECT n.id, j.key, j.value FROM nested n, LATERAL json_each(to_json(n.attrs)) j
SELECT regexp_split_to_table('a b c', ' ')
SELECT id, regexp_split_to_table(name, 'a') FROM employees
SELECT count(*) <= 8 FROM employees TABLESAMPLE 50%
SELECT count(*) FROM employees USING SAMPLE 3 ROWS
SELECT count(*) FROM employees USING SAMPLE reservoir(3 ROWS) REPEATABLE (42)
SELECT count(*) FROM series USING SAMPLE 10% (bernoulli, 42)
FROM employees PIVOT (sum(salary) FOR dept IN ('research', 'sales') GROUP BY active)
FROM (SELECT id, salary::INTEGER AS a, manager AS b FROM employees) UNPIVOT (v FOR k IN (a, b))
FROM (SELECT id, salary::INTEGER AS a, manager AS b FROM employees) UNPIVOT INCLUDE NULLS (v FOR k IN (a, b))
SELECT json_group_array(id), json_group_object(name, id), json_group_structure(to_json(name)) FROM (SELECT * FROM employees ORDER BY id)
-- numbers
SELECT dec9 + dec18, dec9 - dec18, dec9 * dec9, dec9 + 1, dec9 * 2.5, dec9 + i, -dec9, dec9 % 2, dec9 / 2, dec9 // 2, dec18 * 3, dec38 + 1 FROM types WHERE id = 1
SELECT (dec9 + 1) * (dec9 - 1) + dec9, sum(dec9 * (1 - dec9)) OVER (), (dec9 + dec9) + (dec9 + dec9) FROM types WHERE id = 1
SELECT salary * 1.1, salary + salary + salary, 1 - salary, salary * id, salary / id, salary + 0.005, salary * salary FROM employees
SELECT 0.1 + id, id * 0.1 * 0.1, id::DECIMAL(4, 2) * id::DECIMAL(4, 2), id::DECIMAL(3, 1) + id::DECIMAL(5, 3), id::DECIMAL(30, 5) * 2.5 FROM employees
SELECT abs(salary), round(salary, 1), round(salary), round(salary, -2), ceil(salary), floor(salary), trunc(salary), sign(salary), round(dec38, 3), truncate FROM employees, (SELECT dec38, trunc(d) AS truncate FROM types WHERE id = 1)
SELECT abs(id), ceil(v), ceiling(v), floor(v), round(v, 1), round(v), trunc(v), round_even(v, 1), roundbankers(v, 0), even(v), sign(v), signbit(v) FROM (SELECT id, v FROM series LIMIT 20)
SELECT sqrt(id), cbrt(id), exp(id), ln(id), log(id), log10(id), log2(id), log(2, id), pow(id, 2), power(id, 0.5), id ** 3, id ^ 2 FROM employees
SELECT sin(id), cos(id), tan(id), cot(id), asin(id / 10), acos(id / 10), atan(id), atan2(id, 2), sinh(id), cosh(id), tanh(id), asinh(id), acosh(id), atanh(id / 10) FROM employees
SELECT degrees(id), radians(id), pi(), gamma(id), lgamma(id), factorial(id), gcd(id, 6), lcm(id, 6), greatest_common_divisor(id, 4), least_common_multiple(id, 4), id !, xor(id, 3), nextafter(id, 10) FROM employees
SELECT id & 3, id | 8, id << 2, id >> 1, ~id, xor(id, 1), bit_count(id), fdiv(id, 3), fmod(id, 3), mod(id, 3), divide(id, 3), multiply(id, 3), add(id, 3), subtract(id, 3) FROM employees
SELECT greatest(id, manager, 3), least(id, manager), greatest(name, dept), isnan(v), isinf(v), isfinite(v) FROM (SELECT id, manager, name, dept, id / 3 AS v FROM employees)
SELECT bin(id), hex(id), to_hex(id), to_binary(id), unbin(bin(id)), unhex(hex(name)), from_hex('FF'), from_binary('0101'), to_base(id, 7), to_base(id, 2, 10), bar(id, 0, 10), bar(id, 0, 10, 5) FROM employees
SELECT format_bytes(id * 1000), formatReadableSize(id * 1000), formatReadableDecimalSize(id * 1000), parse_formatted_bytes('1 kB'), pg_size_pretty(id * 5000) FROM employees
SELECT id::DOUBLE / 0, id % 0, 1 // (id - id), f, d, isnan(d), d = 'NaN'::DOUBLE, d > 1, f * 2 FROM (SELECT * FROM types)
SELECT i + 1, l - 1, u, b, NOT b, b AND true, b OR false FROM types WHERE id = 1
error: SELECT i + 1 FROM types
error: SELECT l * 10 FROM types
SELECT hash(id), hash(name, id), md5(name), md5_number(name), md5_number_lower(name), md5_number_upper(name), sha1(name), sha256(name) FROM employees
SELECT width, v FROM (SELECT equi_width_bins(0, 10, 2, true) AS width, time_bucket(INTERVAL 1 MONTH, day) AS v FROM series LIMIT 3)
SELECT equi_width_bins(0, id, 2, true), equi_width_bins(0.0, id + 0.5, 3, false) FROM employees
-- strings
SELECT lower(name), upper(name), lcase(name), ucase(name), length(name), len(name), char_length(name), strlen(name), octet_length(name::BLOB), bit_length(name), length_grapheme(name), reverse(name) FROM employees
SELECT substr(name, 2), substring(name, 2, 3), substring(name FROM 2 FOR 2), name[2], name[2:3], name[:-2], left(name, 2), right(name, 2), left(name, -2), left_grapheme(name, 1), right_grapheme(name, 2), substring_grapheme(name, 1, 2) FROM employees
SELECT trim(name), ltrim(name, 'A'), rtrim(name, 'a'), trim('x' FROM name), lpad(name, 8, '*'), rpad(name, 8, '-+'), repeat(name, 2), concat(name, dept, id), concat_ws('-', name, dept, id), name || dept || id FROM employees
SELECT replace(name, 'a', 'b'), translate(name, 'abc', 'xyz'), split_part(name, 'a', 2), string_split(name, 'a'), str_split(name, 'a'), string_to_array(name, 'a'), split(name, 'r'), str_split_regex(name, '[aeiou]'), string_split_regex(name, 'a|e'), regexp_split_to_array(name, 'a') FROM employees
SELECT name LIKE 'A%', name LIKE '%a', name LIKE '%a%', name LIKE 'A_a', name NOT LIKE 'A%', name ILIKE 'a%', name NOT ILIKE 'a%', name LIKE 'A$%' ESCAPE '$', name NOT LIKE '%$_' ESCAPE '$', name ILIKE 'a#%' ESCAPE '#', name NOT ILIKE '#%' ESCAPE '#' FROM employees
SELECT name LIKE dept, name ~~ 'A%', name !~~ 'A%', name ~~* 'a%', name !~~* 'a%', name GLOB 'A*', name ~~~ '[AB]*', name SIMILAR TO '[A-D].*', name NOT SIMILAR TO '[A-D].*', name ~ '[A-D].*', name !~ 'A.*', name ^@ 'A' FROM employees
SELECT starts_with(name, 'A'), prefix(name, 'A'), ends_with(name, 'a'), suffix(name, 'a'), contains(name, 'a'), instr(name, 'a'), position('a' IN name), strpos(name, 'a') FROM employees
SELECT regexp_matches(name, '^[A-D]'), regexp_matches(name, 'ADA', 'i'), regexp_full_match(name, 'A.a'), regexp_full_match(name, 'a.A', 'i'), regexp_extract(name, '([a-z])([a-z])'), regexp_extract(name, '([A-Z])([a-z])', 2), regexp_extract(name, '(a)', 1, 'i'), regexp_extract(name, '([A-Z])([a-z])', ['x', 'y']) FROM employees
SELECT regexp_extract_all(name, '[a-z]'), regexp_extract_all(name, '([a-z])(.)', 2), regexp_replace(name, '[aeiou]', '_'), regexp_replace(name, '[aeiou]', '_', 'g'), regexp_replace(name, '(A)', '\1\1', 'gi'), regexp_escape(name || '.') FROM employees
SELECT levenshtein(name, 'Ada'), editdist3(name, 'Ada'), damerau_levenshtein(name, 'Ad'), jaro_similarity(name, 'Ada'), jaro_winkler_similarity(name, 'Ada'), jaccard(name, 'Ada'), hamming('Ada', 'Adb'), mismatches('abc', 'abd') FROM employees
SELECT ascii(name), ord(name), unicode(name), chr(id + 64), strip_accents(s), nfc_normalize(s), url_encode(s), url_decode(url_encode(s)), encode(s), decode(encode(s)), base64(encode(s)), to_base64(bin), from_base64('YWJj') FROM (SELECT e.*, t.s, t.bin FROM employees e, types t WHERE t.id < 4)
SELECT printf('%d-%s', id, name), format('{}-{:>5}', name, id), format('{:.2f}', salary::DOUBLE), printf('%.1f%%', id / 3) FROM employees
SELECT parse_path(p), parse_path(p, 'system'), parse_dirname(p), parse_dirpath(p), parse_filename(p), parse_filename(p, true), parse_filename(p, true, 'forward_slash') FROM (SELECT '/a/b/' || name || '.txt' AS p FROM employees)
SELECT name COLLATE NOCASE = 'ADA', name < 'b' COLLATE NOCASE, name COLLATE NOACCENT = 'Ada', name COLLATE de < 'b' FROM employees
SELECT name FROM employees WHERE name COLLATE NOCASE = 'ada'
SELECT bin, bin || 'x'::BLOB, hex(bin), octet_length(bin), bin = 'abc'::BLOB, md5(s), encode('a') || bin FROM types
SELECT '10101'::BIT, bit_count(x), get_bit(x, 0), set_bit(x, 0, 0), bit_position('1'::BIT, x), bitstring('101', 8), x & x, x | x, ~x, x << 1, x::VARCHAR FROM (SELECT id::BIT AS x FROM employees)
SELECT s, s = '', s IS NULL, 'a' || chr(0) || 'b', 'it''s', E'tab\t', '🦆' FROM types
-- dates and times
SELECT hired + 1, hired - 1, hired + INTERVAL 1 MONTH, hired - INTERVAL 1 YEAR, hired - DATE '2016-01-01', hired::TIMESTAMP - TIMESTAMP '2016-01-01', INTERVAL 1 DAY * id, -INTERVAL 1 DAY, INTERVAL 3 DAY / 2 FROM employees
SELECT year(hired), month(hired), day(hired), quarter(hired), week(hired), weekday(hired), dayofweek(hired), dayofyear(hired), dayofmonth(hired), weekofyear(hired), yearweek(hired), isodow(hired), isoyear(hired), century(hired), decade(hired), millennium(hired), era(hired), julian(hired) FROM employees
SELECT extract(year FROM ts), extract(epoch FROM ts), date_part('minute', ts), datepart('second', ts), date_part(['year', 'month'], ts), date_part('doy', ts), date_part('isoyear', ts), date_part(p, ts) FROM types, (VALUES ('year'), ('hour')) v(p) WHERE id < 4
SELECT hour(ts), minute(ts), second(ts), millisecond(ts), microsecond(ts), nanosecond(ts), epoch(ts), epoch_ms(ts), epoch_us(ts), epoch_ns(greatest(dt, DATE '2000-01-01')), hour(tm), timezone_hour(tz), timezone_minute(tz) FROM types WHERE id = 1 OR id = 4
SELECT date_trunc('month', hired), date_trunc('week', hired), datetrunc('year', hired::TIMESTAMP), date_trunc('hour', tz), date_trunc(p, ts) FROM employees, types, (VALUES ('day'), ('quarter')) v(p) WHERE types.id = 1
SELECT date_diff('day', hired, DATE '2024-01-01'), datediff('month', hired, DATE '2024-01-01'), date_sub('year', hired, DATE '2024-01-01'), datesub('day', hired, DATE '2024-01-01'), date_add(hired, INTERVAL 1 DAY), age(hired::TIMESTAMP), age(TIMESTAMP '2024-01-01', hired) FROM employees
SELECT strftime(hired, '%d.%m.%Y'), strftime('%Y-%j', hired), strftime(ts, '%H:%M:%S.%f'), strptime('2024-02-29', '%Y-%m-%d'), strptime(strftime(hired, '%d/%m/%Y'), '%d/%m/%Y'), try_strptime(name, '%Y'), strptime(strftime(hired, '%d/%m/%Y'), ['%Y', '%d/%m/%Y']) FROM employees, (SELECT ts FROM types WHERE id = 1)
SELECT dayname(hired), monthname(hired), last_day(hired), days_in_month(hired), make_date(2024, id, 1), make_date(id), make_time(id, 2, 3.5), make_timestamp(2024, id, 1, 2, 3, 4.5), make_timestamp(id), make_timestamp_ms(id), make_timestamp_ns(id), make_timestamptz(id), to_timestamp(id) FROM employees
SELECT to_years(id), to_months(id), to_days(id), to_hours(id), to_minutes(id), to_seconds(id), to_milliseconds(id), to_microseconds(id), to_weeks(id), to_quarters(id), to_decades(id), to_centuries(id), to_millennia(id), normalized_interval(to_days(id * 40)) FROM employees
SELECT time_bucket(INTERVAL 2 WEEK, hired), time_bucket(INTERVAL 1 MONTH, hired, DATE '2020-01-15'), time_bucket(INTERVAL 3 HOUR, ts, INTERVAL 30 MINUTE), time_bucket(INTERVAL 1 DAY, tz, 'Asia/Tokyo') FROM employees, types WHERE types.id = 1
SELECT ts AT TIME ZONE 'Asia/Tokyo', tz AT TIME ZONE 'America/New_York', timezone('UTC', ts), tz::TIMESTAMP, ts::TIMESTAMPTZ, tz::DATE, tz::TIMETZ, dt::TIMESTAMP, ts::TIME, strftime(tz, '%Z') FROM types WHERE id IN (1, 4)
SELECT now(), current_date, current_timestamp, current_time, localtime, localtimestamp, today(), transaction_timestamp(), current_user, current_schema, current_catalog
SELECT hired FROM employees WHERE hired > current_date - INTERVAL 3000 DAY
SELECT hired = '2016-07-15', hired > TIMESTAMP '2017-01-01 00:00:00', tz > now(), tm > '12:00:00', isfinite(hired), 'infinity'::DATE > hired, hired BETWEEN '2016-01-01' AND '2017-12-31' FROM employees, types
SELECT ts::TIMESTAMP_S, ts::TIMESTAMP_MS, ts::TIMESTAMP_NS, ts::TIMESTAMP_NS + INTERVAL 1 DAY, dt::VARCHAR, tm::VARCHAR, tm + INTERVAL 1 HOUR, dt + tm, tm::TIMETZ FROM types WHERE id = 1
-- constants of every type
SELECT 1::TINYINT, -1::SMALLINT, 1::INTEGER, -9223372036854775808, 170141183460469231731687303715884105727::HUGEINT, '-170141183460469231731687303715884105728'::HUGEINT, 255::UTINYINT, 65535::USMALLINT, 4294967295::UINTEGER, 18446744073709551615::UBIGINT, 340282366920938463463374607431768211455::UHUGEINT
SELECT 1.5, -0.05::DECIMAL(9, 4), 12345678901234567890.12345::DECIMAL(38, 5), -5::DECIMAL(38, 5), 0::DECIMAL(4, 4), 99999999999999999999999999999999999999::DECIMAL(38, 0)
SELECT 'NaN'::DOUBLE, 'inf'::DOUBLE, '-inf'::FLOAT, -0.0::DOUBLE, 0.1::FLOAT, 1e-320, 1.7976931348623157e308, 1e22, 1e21::FLOAT, 'nan'::FLOAT
SELECT DATE '2024-02-29', DATE '0001-01-01', DATE '0044-03-15 (BC)', DATE '12345-01-01', DATE 'infinity', DATE '-infinity', DATE '9999-12-31', DATE 'epoch'
SELECT TIME '12:34:56.789', TIME '24:00:00', TIME '00:00:00', '12:34:56.123456789'::TIME_NS, TIMETZ '12:00:00+05:30', TIMETZ '00:00:00-15:59:59', TIMETZ '23:59:59.999999+15:59', TIMETZ '01:02:03+00'
SELECT TIMESTAMP '2024-02-29 12:34:56.789', TIMESTAMP '1969-12-31 23:59:59.999999', TIMESTAMP 'infinity', TIMESTAMP '-infinity', TIMESTAMP '0044-03-15 (BC) 01:02:03', TIMESTAMP '290000-01-01 00:00:00', TIMESTAMP_S '2024-01-01 01:02:03', TIMESTAMP_MS '2024-01-01 01:02:03.004', TIMESTAMP_NS '2024-01-01 01:02:03.004005006', TIMESTAMPTZ '2024-01-01 00:00:00+05'
SELECT INTERVAL '1 month 2 days 3 seconds', INTERVAL '-1 month -2 days -3 microseconds', INTERVAL 1 YEAR, INTERVAL '5 days -2 hours', INTERVAL 0 DAY, INTERVAL '200000 hours'
SELECT '\x00\xFFabc\x5C'::BLOB, ''::BLOB, UUID '123e4567-e89b-12d3-a456-426614174000', UUID '00000000-0000-0000-0000-000000000000', 'ffffffff-ffff-ffff-ffff-ffffffffffff'::UUID, '0101'::BIT, '12345678901234567890123456789'::BIGNUM
SELECT true, false, NULL, NULL::INTEGER, NULL::DECIMAL(5, 2)[], '{"a": 1}'::JSON, NULL::JSON
SELECT [1, 2, NULL], []::INTEGER[], [[1], [], NULL], [1.5, 2]::DOUBLE[], [1, 2]::INTEGER[2], ['a', NULL]::VARCHAR[2], [DATE '2024-01-01'], [[1, 2], [3, 4]]::INTEGER[2][2]
SELECT {'a': 1, 'b': NULL, 'c d': 'x'}, {'a': {'b': [1, 2]}}, row(1, 'x'), (1, 2), {'a': NULL::INTEGER}, struct_pack(k := 1, v := [1]), NULL::STRUCT(a INTEGER)
SELECT MAP {1: 'a', 2: NULL}, MAP {}::MAP(INTEGER, VARCHAR), MAP {'k': [1, 2]}, MAP {[1]: {'a': 1}}, NULL::MAP(INTEGER, INTEGER), map([1], ['x'])
SELECT union_value(a := 1), union_value(a := 1)::UNION(a INTEGER, b VARCHAR), 'x'::UNION(a INTEGER, b VARCHAR), NULL::UNION(a INTEGER)
SELECT * FROM (VALUES (1::TINYINT, 'NaN'::FLOAT, INTERVAL 1 DAY, [1], {'a': 1}), (NULL, NULL, NULL, NULL, NULL)) v(a, b, c, d, e)
SELECT 1::VARIANT::INTEGER
SELECT id::VARIANT::INTEGER, variant_typeof(id::VARIANT) FROM employees
SELECT id FROM employees WHERE salary IN (7500.50, 4000) OR hired IN (DATE '2016-07-15', DATE '2021-12-31')
SELECT typeof(i), typeof(dec9), typeof([1]), pg_typeof(d), typeof(NULL) FROM types WHERE id = 1
whole: SELECT alias(id + 1) FROM employees
-- nested values
SELECT [id, manager], [name, dept], list_value(id, 2), array_value(id, 2), {'a': id, 'b': name}, struct_pack(x := id), row(id, name), MAP {name: id}, map([name], [id]), map_from_entries([(name, id)]) FROM employees
SELECT tags[1], tags[-1], tags[1:1], tags[2:], tags[:-1], tags[1:-1:1], grid[1][1], list_extract(tags, 1), list_element(tags, 2), array_extract(tags, 1), array_slice(tags, 1, 2), list_slice(tags, -1, -1), grid[:][1] FROM nested
SELECT point.x, point['y'], struct_extract(point, 'x'), array_extract(point, 'x'), struct_extract_at(point, 2), lines[1].sku, lines[1].notes[1], struct_keys(point), struct_values(point) FROM nested
SELECT attrs['k'], map_extract(attrs, 'k'), map_extract_value(attrs, 'k'), element_at(attrs, 'm'), map_keys(attrs), map_values(attrs), map_entries(attrs), cardinality(attrs), map_contains(attrs, 'k'), map_contains_value(attrs, 1), map_contains_entry(attrs, 'k', 1), map_concat(attrs, MAP {'z': 9}) FROM nested
SELECT len(tags), array_length(tags), array_length(grid, 1), list_contains(tags, 'a'), list_has(tags, 'b'), array_has_all(tags, ['a']), list_has_any(tags, ['a', 'z']), tags && ['a'], tags @> ['a'], ['a'] <@ tags, list_position(tags, 'b'), list_indexof(tags, 'a'), 'a' IN tags FROM nested
SELECT list_append(tags, 'x'), list_prepend('x', tags), list_concat(tags, ['y']), tags || ['z'], array_push_back(tags, 'q'), array_push_front(tags, 'q'), array_pop_back(tags), array_pop_front(tags), list_reverse(tags), list_resize(tags, 3), list_resize(tags, 3, 'f'), flatten(grid), list_distinct(tags), list_unique(tags), list_where(tags, [true, false]), list_select(tags, [1]), list_zip(tags, [1, 2]), list_intersect(tags, ['a']) FROM nested
SELECT list_sort(tags), list_sort(tags, 'DESC'), list_sort(tags, 'ASC', 'NULLS FIRST'), list_reverse_sort(tags), list_grade_up(tags), array_sort(tags, 'desc', 'nulls last'), array_reverse_sort(tags, 'NULLS LAST') FROM nested WHERE id <> 3
SELECT list_sum(flatten(grid)), list_avg([id, 2]), list_min(tags), list_max(tags), list_aggregate(tags, 'count'), list_aggregate(tags, 'string_agg', '-'), list_aggr([id, 1], 'quantile_cont', 0.5), list_string_agg(tags), list_first(tags), list_last(tags), list_any_value(tags), list_count(tags), list_median([id]), list_histogram(tags), list_product([id, 2]), array_to_string(tags, '+'), list_mode(tags), list_entropy(tags) FROM nested
SELECT aggregate(tags, 'string_agg', '; '), aggregate([id, 3], 'quantile_cont', 0.25), array_aggr([id, 3], 'quantile_disc', [0.5]) FROM nested
SELECT list_transform(tags, lambda x: upper(x)), list_transform([1, 2], lambda x, i: x + i + id), list_filter([1, 2, 3], lambda x: x > id), list_filter([5, 6, 7], lambda x, i: i < id), list_reduce([1, 2, 3], lambda x, y: x + y), list_reduce([1, 2, 3], lambda x, y: x * y + id), list_reduce([1, 2, 3], lambda x, y, i: x + y * i), list_reduce([1, 2, 3], lambda x, y: x + y + id, 100), list_reduce([1, 2], lambda x, y, i: x - y - i + id, id) FROM nested
SELECT list_transform(grid, lambda g: list_transform(g, lambda x: x + id)), list_transform(grid, lambda g: list_filter(g, lambda x: x > len(g))), list_transform(lines, lambda l: l.sku || id), list_transform([1, 2], lambda x: list_transform([3, 4], lambda y: x * y + id)), list_transform([1], lambda a: list_transform([2], lambda b: list_transform([3], lambda c: a + b * c + id))) FROM nested
SELECT [x * 2 FOR x IN [1, 2, 3] IF x > id], [x FOR x IN tags IF x <> 'a'], list_apply(tags, lambda x: x || 'z'), apply(tags, lambda x: len(x)), filter(tags, lambda x: x = 'a'), reduce([1, 2], lambda a, b: a - b), array_transform(tags, lambda t: t) FROM nested
SELECT array_cosine_distance([id, 1, 2]::FLOAT[3], [1, 2, 3]::FLOAT[3]), array_distance([id, 1]::FLOAT[2], [1, 2]::FLOAT[2]), array_inner_product([id, 1]::DOUBLE[2], [1, 2]::DOUBLE[2]), array_cross_product([id, 1, 2]::FLOAT[3], [1, 2, 3]::FLOAT[3]), list_distance([id, 1.0], [1.0, 2.0]), list_cosine_similarity([id, 1.0], [1.0, 2.0]), [id, 2]::INTEGER[2] FROM employees
SELECT struct_insert(point, z := id), struct_update(point, x := id), struct_concat(point, {'q': 1}), struct_pack(a := point.x), struct_contains((id, 2), 2), struct_has((id, 2), 5), struct_position((id, 2), 2) FROM nested
SELECT union_extract(u, 'a'), union_tag(u), u.a, u FROM (SELECT CASE WHEN id > 4 THEN union_value(a := id)::UNION(a INTEGER, b VARCHAR) ELSE name::UNION(a INTEGER, b VARCHAR) END AS u FROM employees)
SELECT range(id), range(1, id), generate_series(1, id, 2), range(DATE '2024-01-01', DATE '2024-01-01' + id, INTERVAL 1 DAY) FROM employees
SELECT point = {'x': 1, 'y': 1.5}, point > {'x': 0, 'y': 0.0}, tags = ['a', 'b'], tags < ['b'], attrs = MAP {'k': 1, 'm': 2}, (id, 1) = (1, 1), row(id) < row(3) FROM nested
SELECT point, count(*) FROM nested GROUP BY point ORDER BY point
SELECT a.id, b.id FROM nested a JOIN nested b ON a.tags = b.tags AND a.point IS NOT DISTINCT FROM b.point
SELECT point::VARCHAR, tags::VARCHAR, attrs::VARCHAR, lines::JSON, tags::VARCHAR[], grid::BIGINT[][], point::STRUCT(x BIGINT, y VARCHAR), CAST(tags AS JSON), TRY_CAST(tags AS INTEGER[]) FROM nested
-- JSON
SELECT to_json(point), json_object('a', id, 'b', tags), json_array(id, tags), row_to_json(point), array_to_json(tags), json_quote(id), json(point::JSON), lines::JSON FROM nested
SELECT j->'a', j->>'a', j->'$.b[0]', j->>'$.b', json_extract(j, '$.a'), json_extract_string(j, 'a'), json_extract(j, ['$.a', '$.b']), json_value(j, '$.a'), json_exists(j, '$.b'), json_extract_path(j, 'a'), json_extract_path_text(j, 'b'), json_extract(j, p) FROM (SELECT json_object('a', id, 'b', [name, dept]) AS j FROM employees), (VALUES ('$.a'), ('$.b')) v(p)
SELECT json_type(j), json_type(j, '$.a'), json_array_length(j, '$.b'), json_keys(j), json_structure(j), json_valid(j), json_contains(j, '{"a": 1}'), json_merge_patch(j, '{"c": 3}'), json_pretty(j) FROM (SELECT json_object('a', id, 'b', [name, dept]) AS j FROM employees)
SELECT json_transform(j, '{"a": "INTEGER", "b": ["VARCHAR"]}'), from_json(j, '{"a": "BIGINT"}'), json_transform_strict(j, '{"a": "INTEGER"}'), from_json_strict(j, '{"a": "INTEGER"}'), j::STRUCT(a INTEGER, b VARCHAR[]), j::VARCHAR, (j->'a')::INTEGER FROM (SELECT json_object('a', id, 'b', [name, dept]) AS j FROM employees)
SELECT j FROM (SELECT json_object('a', id) AS j FROM employees) WHERE j->>'a' = '3' OR (j->'a')::INT > 6
-- others
SELECT uuid_extract_version(u), uuid_extract_timestamp('0190163d-8694-739b-aea5-966c26f8ad91'::UUID), u::VARCHAR, length(uuid()::VARCHAR), uuid() = uuid(), gen_random_uuid() IS NULL FROM types WHERE id < 4
SELECT random() BETWEEN 0 AND 1, random() = random() FROM employees
SELECT version() IS NOT NULL, constant_or_null(1, manager), error('x') IS NULL FROM employees WHERE id < 0
SELECT CASE WHEN id > 100 THEN error('no') ELSE 'ok' END FROM employees
SELECT icu_sort_key(name, 'de'), getbit FROM (SELECT name, get_bit('101'::BIT, 1) AS getbit FROM employees)
SELECT json_serialize FROM (SELECT id AS json_serialize FROM employees WHERE id = 1)
SELECT (SELECT max(x) FROM (VALUES (id), (manager)) v(x)) FROM employees
SELECT st_astext('POINT(1 2)'::GEOMETRY)
SELECT switch(id, MAP {1: 'a', 2: 'b'}) FROM employees
SELECT name, (SELECT list(m.name ORDER BY m.id) FROM employees m WHERE m.dept = e.dept AND m.id <> e.id) FROM employees e
SELECT * FROM (SELECT dept, sum(salary) OVER (PARTITION BY dept) s, row_number() OVER (PARTITION BY dept ORDER BY id) n FROM employees) WHERE n = 1 AND s > 5000
SELECT a.dept, a.n, b.n FROM (SELECT dept, count(*) n FROM employees GROUP BY dept) a FULL JOIN (SELECT name, count(*) n FROM departments GROUP BY name) b ON a.dept = b.name
SELECT count(*) FROM employees a, employees b, employees c WHERE a.id = b.manager AND b.id = c.manager
SELECT id IN (SELECT unnest([1, 2])), id = ANY ([1, 2]), id = ALL ([1]), id > ANY (SELECT 3) FROM employees
SELECT dept, active, sum(salary), max(name) FILTER (WHERE id > 2), count(DISTINCT manager) FROM employees GROUP BY GROUPING SETS ((dept), (active), (dept, active), ()) HAVING count(*) > 1 ORDER BY ALL
SELECT e.*, d.* FROM employees e, departments d WHERE e.dept = d.name AND e.salary > (SELECT avg(salary) FROM employees) ORDER BY e.id, d.name LIMIT 3
-- mixtures
SELECT e.name, x.i, x.j FROM employees e, LATERAL (SELECT i, j FROM range(e.id % 3) r(i), range(2) s(j)) x
SELECT n.id, u.t, v.w FROM nested n, unnest(n.tags) u(t), unnest([u.t, 'z']) v(w)
SELECT n.id, u.t, u.o FROM nested n, unnest(n.tags) WITH ORDINALITY u(t, o)
SELECT name, (SELECT count(*) FROM employees m WHERE m.salary > e.salary), (SELECT min(m.id) FROM employees m WHERE m.salary > e.salary AND m.dept = e.dept) FROM employees e
SELECT name FROM employees e WHERE e.id = (SELECT max(m.id) FROM employees m WHERE m.dept IS NOT DISTINCT FROM e.dept)
SELECT name, EXISTS (SELECT 1 FROM employees m WHERE m.manager = e.id OR m.id = e.manager) FROM employees e
SELECT name, (SELECT m.name || d.name FROM employees m, departments d WHERE m.id = e.manager AND d.name = e.dept) FROM employees e
WITH x AS MATERIALIZED (SELECT * FROM employees) SELECT name, (SELECT max(y.salary) FROM x y WHERE y.dept = x.dept) FROM x
WITH RECURSIVE r(n, l) AS (SELECT 1, [1] UNION ALL SELECT n + 1, list_append(l, n + 1) FROM r WHERE n < 4) SELECT n, list_transform(l, lambda q: q * n) FROM r
SELECT dept, max(s) FROM (SELECT dept, sum(salary) OVER (PARTITION BY dept ORDER BY id) AS s, id FROM employees QUALIFY rank() OVER (PARTITION BY dept ORDER BY id) < 3) GROUP BY ROLLUP (dept)
SELECT count(*) FROM (SELECT * FROM employees ORDER BY random() LIMIT 3)
SELECT DISTINCT ON (dept) dept, first_value(name) OVER (PARTITION BY dept ORDER BY id) FROM employees ORDER BY dept
SELECT * FROM (SELECT unnest([3, 1, 2]) AS x) ORDER BY x DESC LIMIT 2
SELECT name, CASE WHEN EXISTS (SELECT 1 FROM departments d WHERE d.name = e.dept) THEN (SELECT floor FROM departments d WHERE d.name = e.dept) ELSE -1 END FROM employees e
SELECT sum(CASE WHEN id IN (SELECT manager FROM employees) THEN 1 ELSE 0 END) FROM employees
SELECT a.id, b.id FROM employees a LEFT JOIN employees b ON a.id = b.manager AND b.id IN (SELECT floor + 3 FROM departments)
SELECT a.name, b.total FROM departments a LEFT JOIN (SELECT dept, sum(salary) total FROM employees GROUP BY dept HAVING count(*) > 1) b ON a.name = b.dept WHERE coalesce(b.total, 0) >= 0
SELECT id, salary FROM employees ORDER BY salary DESC NULLS LAST, id LIMIT 30%
SELECT to_json(list(struct_pack(i := id, n := name) ORDER BY id)) FROM employees
SELECT dept, list_sort(list(name)), map(list(id ORDER BY id), list(name ORDER BY id)) FROM employees GROUP BY dept
SELECT max(x), min(x) FROM (SELECT row(id, name) AS x FROM employees)
SELECT row(id, name) AS r, count(*) FROM employees GROUP BY r
SELECT e.id FROM employees e WHERE row(e.id, e.dept) = ANY (SELECT row(id, dept) FROM employees)
SELECT array_agg(x ORDER BY x) FROM (SELECT unnest(generate_series(1, id)) AS x FROM employees WHERE id < 4)
SELECT (id, NULL), {'a': NULL}, [NULL] FROM employees
SELECT id, NULL AS n, NULL || 'x', coalesce(NULL, NULL, id) FROM employees
SELECT count(NULL), max(NULL), list(NULL) FROM employees
SELECT * FROM (SELECT NULL AS x) a JOIN (SELECT NULL AS x) b ON a.x IS NOT DISTINCT FROM b.x
SELECT id FROM employees GROUP BY id HAVING sum(id) > (SELECT avg(id) FROM employees)
SELECT a.id FROM employees a WHERE a.id NOT IN (SELECT b.manager FROM employees b WHERE b.dept = a.dept)
SELECT 'a''b"c', "name" AS "x""y", $$dollar$$ FROM employees
SELECT strftime(TIMESTAMP '2024-01-01 10:00:00' + INTERVAL (id) HOUR, '%H:%M'), date_part('hour', INTERVAL (id) HOUR), INTERVAL (id) DAY + DATE '2024-01-01' FROM employees
SELECT id ::VARCHAR COLLATE NOCASE AS c FROM employees ORDER BY c DESC
SELECT min(name COLLATE NOCASE), max(name COLLATE NOACCENT) FROM employees
SELECT DISTINCT lower(name) COLLATE NOCASE FROM employees
SELECT lower(x), count(*) FROM (SELECT name COLLATE NOCASE AS x FROM employees UNION ALL SELECT upper(name) FROM employees) GROUP BY x
SELECT json_extract(j, '$[*].a'), j -> '$[0]', j ->> '$[1].a' FROM (SELECT to_json(list(struct_pack(a := id) ORDER BY id)) AS j FROM employees)
SELECT round(id / 3, 2), round(salary, 1), id::DECIMAL(10, 3) % 2, id::DECIMAL(5, 1) / 3, avg(salary * 1.05), sum(salary * 1.055) FROM employees GROUP BY id, salary
SELECT try_cast('x' AS INTEGER), TRY(1 / 0), TRY(CAST(name AS INTEGER)) FROM employees
SELECT list_reduce(list_transform([id, 2], lambda x: x * 2), lambda a, b: a + b + id) AS q, list_filter(list_transform(tags, lambda x: {'v': x, 'n': len(x)}), lambda s: s.n > 0) FROM nested
SELECT histogram(label) FROM series WHERE id < 50
SELECT bit_count(bitstring_agg(id, 1, 20)), sum(DISTINCT salary) FILTER (WHERE active), count(DISTINCT (dept, active)) FROM employees
SELECT grouping(dept), count(*) FROM employees GROUP BY CUBE (dept) ORDER BY 1, 2
SELECT id, lead(salary, 1, 0) OVER (PARTITION BY dept ORDER BY id), lag(salary, id) OVER (ORDER BY id) FROM employees
SELECT id, first_value(id) OVER (ORDER BY id ROWS BETWEEN 1 FOLLOWING AND 2 FOLLOWING EXCLUDE TIES), cume_dist(ORDER BY salary) OVER (PARTITION BY active) FROM employees
-- What the printer once made invalid SQL of.
SELECT name FROM employees WHERE name ~ '[A-F].*' OR regexp_full_match(name, '^[a-m]+n?$')
SELECT count(*) FROM employees WHERE name ~ 'B.*'
SELECT id FROM employees WHERE id::INTEGER::BIT = '00000000000000000000000000000001'::BIT OR id::TINYINT::BIT IN ('01111111'::BIT, '00000010'::BIT)
SELECT st_astext(('POINT(' || id || ' 2)')::GEOMETRY), st_astext(NULL::GEOMETRY), ('POINT(' || id || ' 2)')::GEOMETRY::VARCHAR FROM employees
whole: SELECT id, 'POINT(1 2)'::GEOMETRY FROM employees
SELECT reservoir_quantile(salary::DECIMAL(15,2), [0.1, 0.5]), reservoir_quantile(salary::DECIMAL(15,2), 0.5), reservoir_quantile(salary::DECIMAL(9,2), [0.5], 20), approx_quantile(salary::DECIMAL(9,2), [0.5]) FROM employees
SELECT id, CASE WHEN id > 2 THEN (id, name) END, coalesce((id, name), (1, 'a')), [(id, name)], [(1, 'x'), NULL], row(1, NULL) FROM employees
SELECT id, (id, name) IN ((1, 'a'), (2, 'b')), CASE WHEN id < 0 THEN (1::TINYINT, name) ELSE (id, name) END FROM employees
SELECT map([(1, 2)], [(id, 'x')]), {a: (id, 1)}, struct_values({a: id, b: name}), array_zip([id], [name]) FROM employees
SELECT add(salary::DECIMAL(9, 2), id::DECIMAL(9, 2)), subtract(salary::DECIMAL(9, 2), 1.5), multiply(salary::DECIMAL(9, 2), 1.5), subtract(1.25) FROM employees
SELECT a.id, a.salary, b.id, b.salary FROM employees a ASOF JOIN employees b ON a.dept = b.dept AND a.id > b.id AND a.salary <> b.salary
SELECT a.id, a.salary, b.id, b.salary FROM employees a ASOF LEFT JOIN employees b ON a.id > b.id AND (a.dept = 'x' OR a.salary + b.salary > 100)
