"""Features of the Postgres wire by pg8000 and connectorx: a line `client, feature, outcome` for each, with tabs.

    postgres_loaders.py URL FOLDER_OF_THEIR_PACKAGES
"""

import sys

sys.path.insert(0, sys.argv[2])

import datetime
import decimal
import io
import time
import traceback
import uuid
from urllib.parse import unquote, urlparse

import connectorx
import pg8000.dbapi

URL = sys.argv[1]
PARTS = urlparse(URL)
UTC = datetime.timezone.utc
COUNT = 1_000
#: A value of each type that a column may have, and the type.
VALUES = [
    ("BOOLEAN", [True, False, None]),
    ("SMALLINT", [-(2**15), 2**15 - 1, None]),
    ("INTEGER", [-(2**31), 2**31 - 1, None]),
    ("BIGINT", [-(2**63), 2**63 - 1, None]),
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


def same(given, expected):
    assert given == expected, f"{given!r} is not {expected!r}"


def connected():
    connection = pg8000.dbapi.connect(
        user=unquote(PARTS.username),
        password=unquote(PARTS.password),
        host=PARTS.hostname,
        port=PARTS.port,
        database=PARTS.path[1:],
    )
    connection.autocommit = True
    return connection


def code_of(work):
    try:
        work()
    except pg8000.dbapi.Error as error:
        return error.args[0]
    raise AssertionError("no error")


class Pg8000:
    name = "pg8000"

    def __init__(self):
        self.connection = connected()
        self.run("CREATE SCHEMA IF NOT EXISTS lake.loaders")
        self.run("USE lake.loaders")

    def run(self, sql, values=()):
        cursor = self.connection.cursor()
        cursor.execute(sql, values)
        return cursor

    def rows(self, sql, values=()):
        return [tuple(row) for row in self.run(sql, values).fetchall()]

    def table(self, columns):
        name = f"pg8000_{time.monotonic_ns()}"
        self.run(f"CREATE TABLE {name} ({columns})")
        return name

    def sign_in(self):
        same(self.rows("SELECT current_user()"), [(unquote(PARTS.username),)])

    def queries(self):
        same(self.rows("SELECT i, 'v' || i FROM range(3) r(i) ORDER BY i"), [(0, "v0"), (1, "v1"), (2, "v2")])

    def parameters(self):
        query = "SELECT n_name FROM lake.tpch.nation WHERE n_nationkey = %s AND n_name = %s"
        same(self.rows(query, (7, "GERMANY")), [("GERMANY",)])

    def every_type(self):
        table = self.table(COLUMNS)
        marks = ", ".join(["%s"] * len(VALUES))
        for row in ROWS:
            self.run(f"INSERT INTO {table} VALUES ({marks})", row)
        same(self.rows(f"SELECT * FROM {table} ORDER BY c2 NULLS LAST"), ROWS)

    def many_bound_rows(self):
        table = self.table("i INTEGER, t TEXT")
        # It sends each row by itself.
        self.connection.cursor().executemany(f"INSERT INTO {table} VALUES (%s, %s)", [(i, f"v{i}") for i in range(5)])
        same(self.rows(f"SELECT count(*), sum(i)::BIGINT FROM {table}"), [(5, 10)])

    def copy(self):
        table = self.table("i INTEGER, t TEXT")
        text = "".join(f"{i}\tv{i}\n" for i in range(COUNT))
        self.connection.cursor().execute(f"COPY {table} FROM STDIN", stream=io.StringIO(text))
        out = io.BytesIO()
        self.connection.cursor().execute(f"COPY (SELECT * FROM {table} ORDER BY i) TO STDOUT", stream=out)
        same(out.getvalue().decode(), text)

    def transactions(self):
        table = self.table("i INTEGER")
        self.connection.autocommit = False
        try:
            self.run(f"INSERT INTO {table} VALUES (1)")
            self.run("SAVEPOINT s")
            same(code_of(lambda: self.run("SELECT nothing_here"))["C"], "42703")
            self.run("ROLLBACK TO s")
            self.run(f"INSERT INTO {table} VALUES (2)")
            self.connection.commit()
            self.run(f"INSERT INTO {table} VALUES (4)")
            self.connection.rollback()
        finally:
            self.connection.autocommit = True
        same(self.rows(f"SELECT sum(i)::BIGINT FROM {table}"), [(3,)])

    def errors(self):
        error = code_of(lambda: self.run("SELECT 1,\n nothing_here"))
        same((error["C"], error["P"]), ("42703", "12"))


class Connectorx:
    name = "connectorx"
    #: It has no arrays with NULL in them, and no times of a day in Arrow with more than it reads.
    TYPES = {"BOOLEAN", "SMALLINT", "INTEGER", "BIGINT", "DOUBLE PRECISION", "TEXT", "BYTEA", "DATE", "TIMESTAMP", "TIMESTAMPTZ", "UUID"}

    def __init__(self):
        self.connection = connected()
        self.connection.cursor().execute("CREATE SCHEMA IF NOT EXISTS lake.loaders")

    def read(self, sql, **options):
        return connectorx.read_sql(URL, sql, return_type="arrow", **options)

    def queries(self):
        given = self.read("SELECT n_nationkey, n_name FROM lake.tpch.nation ORDER BY n_nationkey LIMIT 2")
        same(given.to_pydict(), {"n_nationkey": [0, 1], "n_name": ["ALGERIA", "ARGENTINA"]})

    def every_type(self):
        table = f"lake.loaders.connectorx_{time.monotonic_ns()}"
        kept = [(kind, values) for kind, values in VALUES if kind in self.TYPES]
        cursor = self.connection.cursor()
        cursor.execute(f"CREATE TABLE {table} ({', '.join(f'c{i} {kind}' for i, (kind, _) in enumerate(kept))})")
        for row in range(3):
            marks = ", ".join(["%s"] * len(kept))
            cursor.execute(f"INSERT INTO {table} VALUES ({marks})", tuple(values[row] for _, values in kept))
        given = self.read(f"SELECT * FROM {table} ORDER BY c2 NULLS LAST").to_pydict()
        for (kind, values), column in zip(kept, given.values()):
            expected = [str(value) if isinstance(value, uuid.UUID) else value for value in values]
            assert column == expected, f"{kind}: {column!r} is not {expected!r}"

    def parts(self):
        # It asks for the least and the greatest key, and then for three parts at once.
        query = "SELECT o_orderkey, o_totalprice::DOUBLE AS price FROM lake.tpch.orders"
        whole = self.read(query)
        cut = self.read(query, partition_on="o_orderkey", partition_num=3)
        same(cut.num_rows, whole.num_rows)
        same(sorted(cut["o_orderkey"].to_pylist()), sorted(whole["o_orderkey"].to_pylist()))

    def protocols(self):
        query = "SELECT n_nationkey, n_name FROM lake.tpch.nation ORDER BY n_nationkey"
        expected = self.read(query)
        for protocol in ("csv", "cursor"):
            same(self.read(query, protocol=protocol).to_pydict(), expected.to_pydict())


FEATURES = {
    Pg8000: {
        "sign in": "sign_in",
        "queries": "queries",
        "parameters": "parameters",
        "every type": "every_type",
        "many bound rows": "many_bound_rows",
        "COPY": "copy",
        "transactions": "transactions",
        "errors": "errors",
    },
    Connectorx: {
        "queries": "queries",
        "every type": "every_type",
        "parts of a query": "parts",
        "its other protocols": "protocols",
    },
}

for kind, features in FEATURES.items():
    client = kind()
    for feature, method in features.items():
        try:
            getattr(client, method)()
            outcome = "ok"
        except BaseException:
            outcome = " ".join(traceback.format_exc().split())[-600:]
            client = kind()
        print(kind.name, feature, outcome, sep="\t", flush=True)
