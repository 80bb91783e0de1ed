"""Each feature of the Postgres wire by psycopg 3, psycopg 2 and asyncpg: a line `client, feature, outcome` for each, with tabs.

    postgres_drivers.py URL
"""

import asyncio
import datetime
import decimal
import json
import sys
import threading
import time
import traceback
import uuid
from urllib.parse import urlparse

import asyncpg
import psycopg
import psycopg2
import psycopg2.extras

URL = sys.argv[1]
SLOW = "SELECT count(*) FROM range(3000000000) a(i), range(1000) b(j) WHERE hash(i + j) = 1"
UTC = datetime.timezone.utc
#: A value of each type that a column may have, and the type.
VALUES = [
    ("BOOLEAN", [True, False, None]),
    ("SMALLINT", [-(2**15), 2**15 - 1, None]),
    ("INTEGER", [-(2**31), 2**31 - 1, None]),
    ("BIGINT", [-(2**63), 2**63 - 1, None]),
    ("REAL", [0.5, float("-inf"), None]),
    ("DOUBLE PRECISION", [0.1, 5e-324, None]),
    ("NUMERIC(18,4)", [decimal.Decimal("-99999999999999.9999"), decimal.Decimal("0.0001"), None]),
    ("TEXT", ["", "ä€😀\tx'y\"\\", None]),
    ("BYTEA", [b"", b"\x00\xff'\\", None]),
    ("DATE", [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]),
    ("TIME", [datetime.time(0), datetime.time(23, 59, 59, 999999), None]),
    ("TIMESTAMP", [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), None]),
    ("TIMESTAMPTZ", [datetime.datetime(1969, 7, 20, 20, 17, 40, 123456, UTC), datetime.datetime(2024, 2, 29, tzinfo=UTC), None]),
    ("UUID", [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1), None]),
    ("INTEGER[]", [[], [1, None, -3], None]),
    ("TEXT[]", [["a", "b,c", "", 'x"\\'], [None], None]),
]
COLUMNS = ", ".join(f"c{i} {kind}" for i, (kind, _) in enumerate(VALUES))
ROWS = [tuple(values[row] for _, values in VALUES) for row in range(3)]
#: Decimals of 38 digits, and maps and structs, which are jsonb.
WIDE = "SELECT 12345678901234567890.0123456789::DECIMAL(38,10), MAP {'k': 0.5::DOUBLE}, {'x': 0.5::DOUBLE, 'y': ['a', NULL]}"
WIDE_ROW = [decimal.Decimal("12345678901234567890.0123456789"), {"k": 0.5}, {"x": 0.5, "y": ["a", None]}]
COUNT = 1_000


def same(given, expected):
    assert given == expected, f"{given!r} is not {expected!r}"


def plain(value):
    return bytes(value) if isinstance(value, memoryview) else value


def wide(row):
    # asyncpg gives the text of jsonb.
    return [json.loads(value) if isinstance(value, str) else value for value in row]


def fails(code, work):
    try:
        work()
    except psycopg.Error as error:
        same(error.sqlstate, code)
        return error
    except psycopg2.Error as error:
        same(error.pgcode, code)
        return error
    raise AssertionError(f"no error {code}")


class Python:
    """What both versions of psycopg do in the same way; each has a connection in autocommit."""

    def sign_in(self):
        wrong = URL.replace(urlparse(URL).password, "wrong")
        try:
            self.module.connect(wrong)
        except self.module.OperationalError:
            return
        raise AssertionError("a wrong password is taken")

    def queries(self):
        cursor = self.connection.cursor()
        cursor.execute("SELECT i, 'v' || i FROM range(3) r(i) ORDER BY i")
        same(cursor.fetchall(), [(0, "v0"), (1, "v1"), (2, "v2")])
        same([column.name for column in cursor.description][:1], ["i"])

    def parameters(self):
        cursor = self.connection.cursor()
        cursor.execute("SELECT n_name FROM lake.tpch.nation WHERE n_nationkey = %s AND n_name = %s", (7, "GERMANY"))
        same(cursor.fetchall(), [("GERMANY",)])

    def every_type(self):
        cursor = self.connection.cursor()
        table = self.table(COLUMNS)
        # psycopg 2 writes an empty list as a text, which only Postgres takes for an array of any type.
        marks = ", ".join(f"%s::{kind}" if kind.endswith("]") else "%s" for kind, _ in VALUES)
        for row in ROWS:
            cursor.execute(f"INSERT INTO {table} VALUES ({marks})", row)
        cursor.execute(f"SELECT * FROM {table} ORDER BY c2 NULLS LAST")
        same([tuple(map(plain, row)) for row in cursor.fetchall()], ROWS)
        cursor.execute(WIDE)
        same(wide(cursor.fetchone()), WIDE_ROW)

    def many_bound_rows(self):
        cursor = self.connection.cursor()
        table = self.table("i INTEGER, t TEXT")
        cursor.executemany(f"INSERT INTO {table} VALUES (%s, %s)", [(i, f"v{i}") for i in range(self.many)])
        cursor.execute(f"SELECT count(*), sum(i) FROM {table}")
        same(tuple(map(int, cursor.fetchone())), (self.many, self.many * (self.many - 1) // 2))

    def transactions(self):
        table = self.table("i INTEGER")
        cursor = self.connection.cursor()
        cursor.execute("BEGIN")
        cursor.execute(f"INSERT INTO {table} VALUES (1)")
        cursor.execute("SAVEPOINT s")
        fails("42703", lambda: cursor.execute("SELECT nothing_here"))
        fails("25P02", lambda: cursor.execute("SELECT 1"))
        cursor.execute("ROLLBACK TO s")
        cursor.execute(f"INSERT INTO {table} VALUES (2)")
        cursor.execute("COMMIT")
        cursor.execute(f"SELECT sum(i) FROM {table}")
        same(int(cursor.fetchone()[0]), 3)

    def errors(self):
        error = fails("42703", lambda: self.connection.cursor().execute("SELECT 1,\n nothing_here"))
        same(error.diag.statement_position, "12")

    def cancel(self):
        threading.Timer(1, self.connection.cancel).start()
        fails("57014", lambda: self.connection.cursor().execute(SLOW))
        self.queries()

    def table(self, columns):
        name = f"{self.prefix}{time.monotonic_ns()}"
        self.connection.cursor().execute(f"CREATE TABLE {name} ({columns})")
        return name


class Psycopg3(Python):
    name, module, prefix, many = "psycopg 3", psycopg, "psycopg3_", COUNT

    def __init__(self):
        self.connection = psycopg.connect(URL, autocommit=True)
        self.connection.execute("USE lake.drivers")

    def every_type(self):
        super().every_type()
        # The same in binary, both ways.
        cursor = self.connection.cursor(binary=True)
        table = self.table(COLUMNS)
        marks = ", ".join(["%b"] * len(VALUES))
        for row in ROWS:
            cursor.execute(f"INSERT INTO {table} VALUES ({marks})", row)
        cursor.execute(f"SELECT * FROM {table} ORDER BY c2 NULLS LAST")
        same([tuple(map(plain, row)) for row in cursor.fetchall()], ROWS)

    def copy_out(self):
        cursor = self.connection.cursor()
        query = "SELECT i::INTEGER AS i, CASE WHEN i <> 1 THEN 'a\tb' END FROM range(3) r(i) ORDER BY i"
        for form in ("text", "binary"):
            with cursor.copy(f"COPY ({query}) TO STDOUT (FORMAT {form})") as copy:
                copy.set_types(["int4", "text"])
                same(list(copy.rows()), [(0, "a\tb"), (1, None), (2, "a\tb")])

    def copy_in(self):
        table = self.table("i INTEGER, t TEXT")
        cursor = self.connection.cursor()
        for form in ("text", "binary"):
            with cursor.copy(f"COPY {table} FROM STDIN (FORMAT {form})") as copy:
                copy.set_types(["int4", "text"])
                for i in range(COUNT):
                    copy.write_row((i, "a\t" if i % 2 else None))
            same(cursor.rowcount, COUNT)
        cursor.execute(f"SELECT count(*), count(t) FROM {table}")
        same(cursor.fetchone(), (2 * COUNT, COUNT))
        error = fails("22P02", lambda: self.write(cursor, table, "1\ta\nx\tb\n"))
        same(error.diag.context, f'COPY {table}, line 2, column i: "x"')
        try:
            self.broken(cursor, table)
            raise AssertionError("no error")
        except KeyError:
            pass
        cursor.execute(f"SELECT count(*) FROM {table}")
        same(cursor.fetchone(), (2 * COUNT,))

    def write(self, cursor, table, text):
        with cursor.copy(f"COPY {table} FROM STDIN") as copy:
            copy.write(text)

    def broken(self, cursor, table):
        with cursor.copy(f"COPY {table} FROM STDIN") as copy:
            copy.write("1\ta\n")
            raise KeyError("given up")

    def pipeline(self):
        table = self.table("i INTEGER")
        with self.connection.pipeline():
            one = self.connection.execute("SELECT 1")
            self.connection.execute(f"INSERT INTO {table} VALUES (%s)", (7,))
            two = self.connection.execute(f"SELECT i FROM {table}")
        same((one.fetchone(), two.fetchone()), ((1,), (7,)))

    def cursors(self):
        with psycopg.connect(URL) as connection:
            with connection.cursor("c") as cursor:
                cursor.itersize = 100
                cursor.execute("SELECT i FROM range(1000) r(i) ORDER BY i")
                same([row[0] for row in cursor], list(range(1000)))


class Psycopg2(Python):
    # It sends each row by itself.
    name, module, prefix, many = "psycopg 2", psycopg2, "psycopg2_", 5

    def __init__(self):
        self.connection = psycopg2.connect(URL)
        self.connection.autocommit = True
        self.connection.cursor().execute("USE lake.drivers")
        psycopg2.extras.register_uuid(conn_or_curs=self.connection)

    def copy_out(self):
        import io

        out = io.StringIO()
        self.connection.cursor().copy_expert("COPY (SELECT i, 'v' || i FROM range(3) r(i) ORDER BY i) TO STDOUT CSV HEADER", out)
        same(out.getvalue().splitlines()[1:], ["0,v0", "1,v1", "2,v2"])

    def copy_in(self):
        import io

        table = self.table("i INTEGER, t TEXT")
        cursor = self.connection.cursor()
        cursor.copy_from(io.StringIO("".join(f"{i}\tv{i}\n" for i in range(COUNT))), table, columns=("i", "t"))
        cursor.execute(f"SELECT count(DISTINCT t) FROM {table}")
        same(cursor.fetchone(), (COUNT,))
        fails("22P02", lambda: cursor.copy_from(io.StringIO("x\ta\n"), table))

    def cursors(self):
        connection = psycopg2.connect(URL)
        cursor = connection.cursor("c")
        cursor.itersize = 100
        cursor.execute("SELECT i FROM range(1000) r(i) ORDER BY i")
        same([row[0] for row in cursor], list(range(1000)))
        connection.close()


class Asyncpg:
    name = "asyncpg"

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.connection = self.run(asyncpg.connect(URL))
        self.run(self.connection.execute("USE lake.drivers"))

    def run(self, work):
        return self.loop.run_until_complete(work)

    def table(self, columns):
        name = f"asyncpg_{time.monotonic_ns()}"
        self.run(self.connection.execute(f"CREATE TABLE {name} ({columns})"))
        return name

    def fails(self, code, work):
        try:
            self.run(work)
        except asyncpg.PostgresError as error:
            same(error.sqlstate, code)
            return error
        raise AssertionError(f"no error {code}")

    def sign_in(self):
        self.fails("28P01", asyncpg.connect(URL.replace(urlparse(URL).password, "wrong")))

    def queries(self):
        rows = self.run(self.connection.fetch("SELECT i, 'v' || i AS v FROM range(3) r(i) ORDER BY i"))
        same([tuple(row) for row in rows], [(0, "v0"), (1, "v1"), (2, "v2")])

    def parameters(self):
        query = "SELECT n_name FROM lake.tpch.nation WHERE n_nationkey = $1 AND n_name = $2"
        same(self.run(self.connection.fetchval(query, 7, "GERMANY")), "GERMANY")

    def every_type(self):
        # It asks pg_catalog for the types of arrays, by a parameter of `oid[]`.
        table = self.table(COLUMNS)
        marks = ", ".join(f"${i + 1}" for i in range(len(VALUES)))
        for row in ROWS:
            self.run(self.connection.execute(f"INSERT INTO {table} VALUES ({marks})", *row))
        rows = self.run(self.connection.fetch(f"SELECT * FROM {table} ORDER BY c2 NULLS LAST"))
        same([tuple(row) for row in rows], ROWS)
        same(wide(self.run(self.connection.fetchrow(WIDE))), WIDE_ROW)
        same(self.run(self.connection.fetchval("SELECT $1::TEXT[]", ["a", None])), ["a", None])

    def many_bound_rows(self):
        table = self.table("i INTEGER, t TEXT")
        self.run(self.connection.executemany(f"INSERT INTO {table} VALUES ($1, $2)", [(i, f"v{i}") for i in range(COUNT)]))
        same(tuple(self.run(self.connection.fetchrow(f"SELECT count(*)::INTEGER, sum(i)::INTEGER FROM {table}"))), (COUNT, COUNT * (COUNT - 1) // 2))

    def copy_out(self):
        import io

        out = io.BytesIO()
        self.run(self.connection.copy_from_query("SELECT i FROM range(3) r(i) ORDER BY i", output=out, format="csv"))
        same(out.getvalue(), b"0\n1\n2\n")

    def copy_in(self):
        table = self.table("i INTEGER, t TEXT")
        records = [(i, f"v{i}" if i % 2 else None) for i in range(COUNT)]
        same(self.run(self.connection.copy_records_to_table(table, records=records)), f"COPY {COUNT}")
        same(tuple(self.run(self.connection.fetchrow(f"SELECT count(*), count(t) FROM {table}"))), (COUNT, COUNT // 2))

    def transactions(self):
        async def work(table):
            async with self.connection.transaction():
                await self.connection.execute(f"INSERT INTO {table} VALUES (1)")
                try:
                    async with self.connection.transaction():
                        await self.connection.execute("SELECT nothing_here")
                except asyncpg.UndefinedColumnError:
                    pass
                await self.connection.execute(f"INSERT INTO {table} VALUES (2)")
            return await self.connection.fetchval(f"SELECT sum(i)::INTEGER FROM {table}")

        same(self.run(work(self.table("i INTEGER"))), 3)

    def errors(self):
        error = self.fails("42703", self.connection.fetch("SELECT 1,\n nothing_here"))
        same(error.position, "12")

    def cancel(self):
        try:
            self.run(self.connection.fetch(SLOW, timeout=1))
        except asyncio.TimeoutError:
            self.queries()
            return
        raise AssertionError("it was not cancelled")

    def cursors(self):
        async def work():
            async with self.connection.transaction():
                return [row[0] async for row in self.connection.cursor("SELECT i FROM range(1000) r(i) ORDER BY i", prefetch=100)]

        same(self.run(work()), list(range(1000)))


FEATURES = {
    "sign in": "sign_in",
    "queries": "queries",
    "parameters": "parameters",
    "every type, with edge values and NULL": "every_type",
    "many bound rows": "many_bound_rows",
    "COPY TO STDOUT": "copy_out",
    "COPY FROM STDIN": "copy_in",
    "transactions and savepoints": "transactions",
    "cursors": "cursors",
    "pipelines": "pipeline",
    "errors with SQLSTATE and place": "errors",
    "cancel": "cancel",
}

with psycopg.connect(URL, autocommit=True) as first:
    first.execute("CREATE SCHEMA IF NOT EXISTS lake.drivers")
for kind in (Psycopg3, Psycopg2, Asyncpg):
    client = kind()
    for feature, method in FEATURES.items():
        if not hasattr(client, method):
            continue
        try:
            getattr(client, method)()
            outcome = "ok"
        except BaseException:
            outcome = " ".join(traceback.format_exc().split())[-600:]
            client = kind()
        print(kind.name, feature, outcome, sep="\t", flush=True)
