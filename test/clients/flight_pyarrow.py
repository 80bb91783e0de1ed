"""pyarrow's Flight client (C++) against a cluster: each feature by itself. Prints the outcome of each as JSON."""

import datetime
import decimal
import sys
import threading
import time

import pyarrow as pa
import pyarrow.flight as flight

from flight_features import equal, feature, print_outcomes
from flight_sql_messages import Connection, fields, message, packed

URL, USER, PASSWORD, TOKEN = sys.argv[1:5]
SCHEMA = "lake.flight_pyarrow"


def connect():
    return Connection(URL, USER, PASSWORD)


def refused(work, *texts):
    try:
        work()
    except (flight.FlightError, pa.ArrowException, KeyError) as error:
        for text in texts:
            assert text in str(error), error
    else:
        raise AssertionError("it is taken")


@feature("sign in")
def sign_in():
    for password in (PASSWORD, TOKEN):
        with Connection(URL, USER, password) as connection:
            equal(connection.rows("SELECT 42"), [(42,)])
    with connect() as connection:
        connection.options = flight.FlightCallOptions(headers=[(b"authorization", f"Bearer {TOKEN}".encode())])
        equal(connection.rows("SELECT 42"), [(42,)])
    refused(lambda: Connection(URL, USER, "wrong"), "[28P01]")


@feature("queries")
def queries():
    with connect() as connection:
        table = connection.query("SELECT l_orderkey FROM lake.tpch.lineitem")
        equal([(table.num_rows,)], connection.rows("SELECT count(*) FROM lake.tpch.lineitem"))
        equal(connection.rows("SHOW SCHEMAS FROM lake LIKE 'tpch'"), [("tpch",)])
        descriptor = flight.FlightDescriptor.for_command(packed("CommandStatementQuery", (1, "SELECT 1 AS x")))
        equal(connection.client.get_schema(descriptor, connection.options).schema.names, ["x"])


@feature("statements without rows")
def updates():
    with connect() as connection:
        equal(connection.update(f"CREATE OR REPLACE TABLE {SCHEMA}.updates (x INT, s VARCHAR)"), 0)
        equal(connection.update(f"INSERT INTO {SCHEMA}.updates VALUES (1, 'a'), (2, 'b'), (3, 'c')"), 3)
        info = connection.info("CommandStatementQuery", (1, f"DELETE FROM {SCHEMA}.updates WHERE x > 1"))
        equal((len(info.endpoints), info.schema.names, info.total_records), (0, [], 2))
        equal(connection.rows(f"SELECT * FROM {SCHEMA}.updates"), [(1, "a")])
        equal(connection.update(f"DROP TABLE {SCHEMA}.updates"), 0)


@feature("parameters")
def parameters():
    values = {
        "i": pa.array([7], pa.int64()),
        "d": [-1.5],
        "s": ["it's \\ ünï 'quoted'"],
        "b": [b"\x00\xff"],
        "t": [True],
        "n": pa.nulls(1),
        "day": [datetime.date(2020, 2, 29)],
        "at": [datetime.datetime(2020, 1, 2, 3, 4, 5, 678901)],
        "dec": [decimal.Decimal("-12345.678")],
    }
    with connect() as connection:
        prepared = connection.prepare("SELECT " + ", ".join("?" for _ in values))
        equal(len(pa.ipc.read_schema(pa.py_buffer(prepared[3]))), len(values))
        handle = prepared[1]
        refused(lambda: connection.command("CommandPreparedStatementQuery", (1, handle)), "[42P02]")
        bound = connection.put("CommandPreparedStatementQuery", (1, handle), rows=pa.table(values))
        equal(bound[1], handle)
        info = connection.info("CommandPreparedStatementQuery", (1, handle))
        got = connection.reader(info).read_all()
        assert got.schema.equals(info.schema)
        equal([list(row.values()) for row in got.to_pylist()], [list(row.values()) for row in pa.table(values).to_pylist()])
        connection.unpacked("ClosePreparedStatement", (1, handle))
        refused(lambda: connection.info("CommandPreparedStatementQuery", (1, handle)), "[26000]")


@feature("many bound rows")
def many():
    with connect() as connection:
        connection.update(f"CREATE OR REPLACE TABLE {SCHEMA}.many (x BIGINT, s VARCHAR)")
        numbers = range(7_000)
        handle = connection.prepare(f"INSERT INTO {SCHEMA}.many VALUES (?, ?)")[1]
        rows = pa.table({"x": pa.array(numbers, pa.int64()), "s": [f"row {i}" for i in numbers]})
        equal(connection.put("CommandPreparedStatementUpdate", (1, handle), rows=rows)[1], 7_000)
        equal(connection.rows(f"SELECT count(*), sum(x)::BIGINT FROM {SCHEMA}.many"), [(7_000, 24_496_500)])
        handle = connection.prepare(f"SELECT s FROM {SCHEMA}.many WHERE x = ?")[1]
        connection.put("CommandPreparedStatementQuery", (1, handle), rows=pa.table({"x": pa.array([5, 3], pa.int64())}))
        equal(connection.command("CommandPreparedStatementQuery", (1, handle)).to_pydict(), {"s": ["row 5", "row 3"]})


@feature("transactions")
def transactions():
    with connect() as connection:
        connection.update(f"CREATE OR REPLACE TABLE {SCHEMA}.transactions (x INT)")
        first, second = connection.begin(), connection.begin()
        connection.update(f"INSERT INTO {SCHEMA}.transactions VALUES (1)", first)
        connection.update(f"INSERT INTO {SCHEMA}.transactions VALUES (2)", second)
        count = f"SELECT count(*) FROM {SCHEMA}.transactions"
        equal([connection.rows(count, one) for one in (first, second, None)], [[(1,)], [(1,)], [(0,)]])
        connection.end(first, True)
        connection.end(second, False)
        equal(connection.rows(f"SELECT * FROM {SCHEMA}.transactions"), [(1,)])
        refused(lambda: connection.end(first, True), "[25P01]")


@feature("ingest")
def ingest():
    rows = pa.table({"x": pa.array([1, -2, None], pa.int64()), "s": ["a", None, "c'd"]})
    modes = {"create": (1, 1), "append": (2, 2), "replace": (1, 3), "create_append": (1, 2)}
    with connect() as connection:

        def put(table, mode):
            created, existing = modes[mode]
            options = message((1, created), (2, existing))
            place = ((2, table), (3, "flight_pyarrow"), (4, "lake"))
            return connection.put("CommandStatementIngest", (1, options), *place, rows=rows)[1]

        connection.update(f"DROP TABLE IF EXISTS {SCHEMA}.ingested")
        equal(put("ingested", "create"), 3)
        equal(connection.query(f"SELECT * FROM {SCHEMA}.ingested").to_pydict(), rows.to_pydict())
        for mode, count in (("append", 6), ("replace", 3), ("create_append", 6)):
            put("ingested", mode)
            equal(connection.rows(f"SELECT count(*) FROM {SCHEMA}.ingested"), [(count,)])
        refused(lambda: put("ingested", "create"))
        refused(lambda: put("nothing", "append"))


@feature("metadata")
def metadata():
    with connect() as connection:
        connection.update(f"CREATE OR REPLACE TABLE {SCHEMA}.described (id BIGINT NOT NULL, d DECIMAL(9, 2))")
        place = ((1, "lake"), (2, "flight\\_pyarrow"))
        equal(connection.command("CommandGetDbSchemas", *place).to_pydict(), {"catalog_name": ["lake"], "db_schema_name": ["flight_pyarrow"]})
        tables = connection.command("CommandGetTables", *place, (3, "descr%"), (4, "TABLE"), (5, True)).to_pylist()
        equal([row["table_name"] for row in tables], ["described"])
        schema = pa.ipc.read_schema(pa.py_buffer(tables[0]["table_schema"]))
        equal([(one.name, one.type, one.nullable) for one in schema], [("id", pa.int64(), False), ("d", pa.decimal128(9, 2), True)])
        equal(schema.field("d").metadata[b"ARROW:FLIGHT:SQL:TYPE_NAME"], b"DECIMAL(9, 2)")
        assert "lake" in connection.command("CommandGetCatalogs").to_pydict()["catalog_name"]
        assert "VIEW" in connection.command("CommandGetTableTypes").to_pydict()["table_type"]
        values = {row["info_name"]: row["value"] for row in connection.command("CommandGetSqlInfo").to_pylist()}
        equal((values[0], len(values)), ("Skein", 91))
        assert connection.command("CommandGetXdbcTypeInfo").num_rows > 10
        keys = ((1, "lake"), (2, "flight_pyarrow"), (3, "described"))
        for name in ("GetPrimaryKeys", "GetExportedKeys", "GetImportedKeys"):
            equal(connection.command(f"Command{name}", *keys).num_rows, 0)
        equal(connection.command("CommandGetCrossReference", *keys, (6, "described")).num_rows, 0)


@feature("catalog and schema of the session")
def session():
    with connect() as connection, connect() as other:
        option = message((1, "schema"), (2, message((1, "tpch"))))
        equal(connection.action("SetSessionOptions", message((1, option))), b"")
        equal(connection.rows("SELECT count(*) FROM nation"), [(25,)])
        refused(lambda: other.rows("SELECT count(*) FROM nation"), "[42P01]")
        connection.action("CloseSession", b"")
        refused(lambda: connection.rows("SELECT count(*) FROM nation"), "[42P01]")


@feature("errors with SQLSTATE and place")
def errors():
    with connect() as connection:
        refused(lambda: connection.rows("SELECT 1,\n nothing"), "[42703]", "line 2, column 2")
        equal(connection.rows("SELECT 1"), [(1,)])


@feature("cancel")
def cancel():
    with connect() as connection:
        sql = "SELECT count(*) FROM range(100000000000) WHERE range % 7 = 9"
        reader = connection.reader(connection.info("CommandStatementQuery", (1, sql)))
        threading.Timer(1, reader.cancel).start()
        began = time.monotonic()
        # Not `read_all`, which takes the end of the call for a signal to the process.
        refused(reader.read_chunk)
        info = connection.info("CommandStatementQuery", (1, sql))
        answer = connection.action("CancelFlightInfo", message((1, info.serialize())))
        equal(fields(answer)[1], 1)
        refused(lambda: connection.reader(info).read_all(), "no such result")
        assert time.monotonic() - began < 15


@feature("data frames")
def frames():
    with connect() as connection:
        sql = "SELECT n_nationkey, n_name FROM lake.tpch.nation ORDER BY 1"
        equal(connection.reader(connection.info("CommandStatementQuery", (1, sql))).read_pandas()["n_name"][7], "GERMANY")


with connect() as connection:
    connection.update(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
print_outcomes()
