-- The tables of schema `t` that every .slt file may read. Plain DuckDB keeps them as they are; for the cluster each becomes a Parquet
-- file that `skein load parquet` makes an Iceberg table of.
CREATE TABLE t.employees (id INTEGER, name VARCHAR, dept VARCHAR, manager INTEGER, salary DECIMAL(10, 2), hired DATE, active BOOLEAN);
INSERT INTO t.employees VALUES
  (1, 'Ada', 'research', NULL, 9000.00, '2015-03-01', true),
  (2, 'Grace', 'research', 1, 7500.50, '2016-07-15', true),
  (3, 'Edsger', 'research', 1, 7500.50, '2017-01-09', false),
  (4, 'Alan', 'operations', 1, 6100.00, '2016-07-15', true),
  (5, 'Barbara', 'operations', 4, 5200.25, '2019-11-30', true),
  (6, 'Donald', 'operations', 4, NULL, '2020-02-29', NULL),
  (7, 'Tony', NULL, 2, 4000.00, NULL, true),
  (8, 'Frances', 'sales', 1, 4100.75, '2021-12-31', false);

CREATE TABLE t.departments (name VARCHAR, budget BIGINT, floor INTEGER);
INSERT INTO t.departments VALUES ('research', 9007199254740993, 3), ('operations', 1000000, 1), ('legal', NULL, 2);

CREATE TABLE t.types (
  id INTEGER, b BOOLEAN, i INTEGER, l BIGINT, f FLOAT, d DOUBLE, dec9 DECIMAL(9, 2), dec18 DECIMAL(18, 4), dec38 DECIMAL(38, 10),
  dt DATE, tm TIME, ts TIMESTAMP, tz TIMESTAMPTZ, s VARCHAR, u UUID, bin BLOB);
INSERT INTO t.types VALUES
  (1, true, 1, 1, 1.5, 0.1, 1.23, 1.2345, 1.2345678901, '2024-02-29', '12:34:56', '2024-02-29 12:34:56', '2024-02-29 12:34:56+00',
    'text', '123e4567-e89b-12d3-a456-426614174000', 'abc'::BLOB),
  (2, false, -2147483648, -9223372036854775808, -3.4028235e38, 'NaN', -9999999.99, -99999999999999.9999,
    -9999999999999999999999999999.9999999999, '0001-01-01', '00:00:00', '1970-01-01 00:00:00.000001', '1969-12-31 23:59:59.999999+00',
    '', '00000000-0000-0000-0000-000000000000', ''::BLOB),
  (3, NULL, 2147483647, 9223372036854775807, 3.4028235e38, 'Infinity', 9999999.99, 99999999999999.9999,
    9999999999999999999999999999.9999999999, '9999-12-31', '23:59:59.999999', '9999-12-31 23:59:59.999999',
    '2038-01-19 03:14:08+00', 'Grüße, 世界 🦆 "quoted" back\slash', 'ffffffff-ffff-ffff-ffff-ffffffffffff', '\x00\xFF\x10'::BLOB),
  (4, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);

CREATE TABLE t.nested (id INTEGER, tags VARCHAR[], point STRUCT(x INTEGER, y DOUBLE), attrs MAP(VARCHAR, INTEGER),
  lines STRUCT(sku VARCHAR, qty BIGINT, notes VARCHAR[])[], grid INTEGER[][]);
INSERT INTO t.nested VALUES
  (1, ['a', 'b'], {'x': 1, 'y': 1.5}, MAP {'k': 1, 'm': 2}, [{'sku': 's1', 'qty': 2, 'notes': ['n']}], [[1, 2], [3]]),
  (2, [], {'x': NULL, 'y': 2.5}, MAP {}, [], [[], [NULL]]),
  (3, NULL, NULL, NULL, NULL, NULL),
  (4, ['c', NULL], {'x': 4, 'y': NULL}, MAP {'k': NULL}, [{'sku': 's2', 'qty': NULL, 'notes': NULL}, NULL], [NULL, [7]]);

CREATE TABLE t.series AS
  SELECT n AS id, n % 7 AS grp, n::DOUBLE / 8 AS v, CASE WHEN n % 11 = 0 THEN NULL ELSE 'name-' || (n % 100) END AS label,
    DATE '2020-01-01' + (n % 730)::INTEGER AS day
  FROM range(300000) AS r(n);

CREATE TABLE t.empty (id INTEGER, name VARCHAR);
