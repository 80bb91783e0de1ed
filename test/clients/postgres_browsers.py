"""Tools that browse Postgres: a line `tool, feature, outcome` for each feature, with tabs.

    postgres_browsers.py URL

The URL's database has the tables of `test/support/browsed-tables.ts`.
"""

import datetime
import glob
import os
import shutil
import sys
import tempfile
import threading
import traceback
from urllib.parse import parse_qs, unquote, urlparse

import adbc_driver_postgresql.dbapi
import duckdb
import duckdb_extension_postgres
import pyarrow
from pgcli.completion_refresher import CompletionRefresher
from pgcli.pgexecute import PGExecute
from pgspecial.main import PGSpecial
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

URL = sys.argv[1]
PARTS = urlparse(URL)
OPTIONS = parse_qs(PARTS.query)["options"][0]


def same(given, expected):
    assert given == expected, f"{given!r} is not {expected!r}"


class Pgcli:
    name = "pgcli"

    def __init__(self):
        self.executor = PGExecute(
            database=PARTS.path[1:],
            user=unquote(PARTS.username),
            password=unquote(PARTS.password),
            host=PARTS.hostname,
            port=PARTS.port,
            options=OPTIONS,
        )

    def run(self, sql):
        return [(list(rows or []), status) for _, rows, _, status, *_ in self.executor.run(sql, PGSpecial())]

    def queries(self):
        same(self.run("SELECT 1 AS a; SELECT 'x' AS b"), [([(1,)], "SELECT 1"), ([("x",)], "SELECT 1")])

    def describes(self):
        [(rows, _)] = self.run("\\dt")
        same([row[1] for row in rows], ["customers", "orders"])
        # pgspecial has descriptions of its own.
        for command in ["\\d", "\\d customers", "\\d+ order_names", "\\dn", "\\dn+", "\\dv", "\\di", "\\du", "\\l", "\\df array_a*", "\\dT int4", "\\dx", "\\db", "\\dp", "\\dD"]:
            self.run(command)

    def completion(self):
        done = threading.Event()
        found = []
        CompletionRefresher().refresh(self.executor, PGSpecial(), lambda completer: (found.append(completer), done.set()), settings={"single_connection": True})
        assert done.wait(60), "the lists are read"

        def completions(text):
            return {one.text for one in found[0].get_completions(Document(text, len(text)), CompleteEvent())}

        assert {"customers", "order_names"} <= completions("SELECT * FROM "), "tables and views"
        assert "other" in completions("SELECT * FROM ot"), "schemas"
        same(completions("SELECT * FROM other."), {"t"})
        assert {"full_name", "is_kept"} <= completions("SELECT  FROM customers"[:7]) | completions("SELECT c. FROM customers c WHERE c."), "columns"
        assert any(one.lower().startswith("array_append") for one in completions("SELECT array_app")), completions("SELECT array_app")


class Duckdb:
    name = "DuckDB"

    def __init__(self):
        folder = os.path.dirname(duckdb_extension_postgres.__file__)
        [extension] = glob.glob(f"{folder}/**/postgres.duckdb_extension", recursive=True)
        self.db = duckdb.connect(config={"allow_unsigned_extensions": "true"})
        # Its entry has the name that the extension had.
        with tempfile.TemporaryDirectory() as own:
            self.db.execute(f"LOAD '{shutil.copy(extension, f'{own}/postgres_scanner.duckdb_extension')}'")
        # No row has an address that Postgres would give.
        self.db.execute("SET pg_use_ctid_scan = false")
        self.db.execute(f"ATTACH '{URL}' AS pg (TYPE postgres)")

    def run(self, sql):
        return self.db.execute(sql).fetchall()

    def lists(self):
        rows = self.run("SELECT schema, name, column_names FROM (SHOW ALL TABLES) WHERE database = 'pg' AND schema IN ('public', 'other') ORDER BY ALL")
        same([row[:2] for row in rows], [("other", "t"), ("public", "customers"), ("public", "order_names"), ("public", "orders")])
        same(rows[0][2], ["part_id", "piece_id", "weight_of"])

    def reads(self):
        self.run("CALL postgres_execute('pg', 'INSERT INTO public.orders SELECT i, i % 7, DATE ''2024-01-01'' FROM generate_series(0, 2999) r(i)')")
        same(self.run("SELECT count(*), sum(order_id), min(placed_on) FROM pg.public.orders WHERE customer_id = 3"), [(429, 643929, datetime.date(2024, 1, 1))])
        same(self.run("SELECT order_id FROM pg.public.orders ORDER BY 1 DESC LIMIT 2"), [(2999,), (2998,)])
        same(self.run("SELECT * FROM postgres_query('pg', 'SELECT count(*)::BIGINT AS n FROM public.orders')"), [(3000,)])

    def writes(self):
        self.run("INSERT INTO pg.other.t SELECT i, i + 1, i / 8 FROM range(2000) r(i)")
        same(self.run("SELECT count(*), max(weight_of) FROM pg.other.t"), [(2000, 249.875)])
        self.run("CALL postgres_execute('pg', 'DELETE FROM other.t WHERE part_id >= 10')")
        same(self.run("SELECT count(*), sum(piece_id) FROM pg.other.t"), [(10, 55)])

    def tables(self):
        self.run("CREATE TABLE pg.other.made AS SELECT i::INTEGER AS i, 'v' || i AS t FROM range(100) r(i)")
        same(self.run("SELECT count(*), max(t) FROM pg.other.made"), [(100, "v99")])
        self.run("DROP TABLE pg.other.made")

    def transactions(self):
        self.run("BEGIN")
        self.run("INSERT INTO pg.other.t VALUES (100, 100, 1)")
        same(self.run("SELECT count(*) FROM pg.other.t"), [(11,)])
        self.run("ROLLBACK")
        same(self.run("SELECT count(*) FROM pg.other.t"), [(10,)])
        self.run("CALL postgres_execute('pg', 'DELETE FROM other.t')")
        self.run("CALL postgres_execute('pg', 'DELETE FROM public.orders')")


class Adbc:
    name = "ADBC"

    def __init__(self):
        self.connection = adbc_driver_postgresql.dbapi.connect(URL, autocommit=True)

    def read(self, sql, parameters=None):
        with self.connection.cursor() as cursor:
            cursor.execute(sql, parameters)
            return cursor.fetch_arrow_table()

    def queries(self):
        found = self.read("SELECT i::BIGINT AS i, 'v' || i AS t FROM generate_series(0, 2) r(i) ORDER BY i")
        same(found.to_pydict(), {"i": [0, 1, 2], "t": ["v0", "v1", "v2"]})

    def parameters(self):
        same(self.read("SELECT $1 + 1::BIGINT AS a, $2 AS b", (41, "x")).to_pydict(), {"a": [42], "b": ["x"]})

    def metadata(self):
        found = self.connection.adbc_get_objects(depth="all", catalog_filter=PARTS.path[1:], db_schema_filter="public").read_all().to_pylist()
        [schema] = [one for one in found[0]["catalog_db_schemas"] if one["db_schema_name"] == "public"]
        tables = {one["table_name"]: one for one in schema["db_schema_tables"]}
        same({name: one["table_type"] for name, one in tables.items() if not name.endswith("_pkey")}, {"customers": "table", "orders": "table", "order_names": "view"})
        columns = {one["ordinal_position"]: one["column_name"] for one in tables["orders"]["table_columns"]}
        same(columns, {1: "order_id", 2: "customer_id", 3: "placed_on"})
        keys = [one["constraint_column_names"] for one in tables["orders"]["table_constraints"] if one["constraint_type"] == "PRIMARY KEY"]
        same(keys, [["order_id"]])
        schema = self.connection.adbc_get_table_schema("customers", db_schema_filter="public")
        same([str(schema.field(name).type) for name in ("id", "full_name", "born_on", "labels")], ["int64", "string", "date32[day]", "list<item: string>"])
        assert "table" in self.connection.adbc_get_table_types(), "types of tables"

    def ingest(self):
        data = pyarrow.table({"i": pyarrow.array(range(5_000), pyarrow.int64()), "t": [f"v{i}" for i in range(5_000)]})
        with self.connection.cursor() as cursor:
            cursor.adbc_ingest("ingested", data, mode="create", db_schema_name="other")
            cursor.adbc_ingest("ingested", data, mode="append", db_schema_name="other")
        same(self.read("SELECT count(*)::BIGINT AS n, count(DISTINCT t)::BIGINT AS d FROM other.ingested").to_pydict(), {"n": [10_000], "d": [5_000]})
        with self.connection.cursor() as cursor:
            cursor.execute("DROP TABLE other.ingested")


FEATURES = {
    Pgcli: {"queries": "queries", "describing commands": "describes", "completion": "completion"},
    Duckdb: {
        "ATTACH and lists": "lists",
        "reading": "reads",
        "writing": "writes",
        "CREATE TABLE AS and DROP": "tables",
        "transactions": "transactions",
    },
    Adbc: {"queries": "queries", "parameters": "parameters", "metadata": "metadata", "ingest": "ingest"},
}

for kind, features in FEATURES.items():
    tool = None
    for feature, method in features.items():
        try:
            tool = tool or kind()
            getattr(tool, method)()
            outcome = "ok"
        except BaseException as error:
            place = next(one.lineno for one in reversed(traceback.extract_tb(error.__traceback__)) if one.filename == __file__)
            outcome = f"line {place}: {type(error).__name__} " + " ".join(str(error).split())[:800]
            tool = None
        print(kind.name, feature, outcome, sep="\t", flush=True)
