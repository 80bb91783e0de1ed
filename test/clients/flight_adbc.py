"""ADBC's Flight SQL driver against a cluster: each feature by itself. Prints the outcome of each as JSON: "ok", or what went wrong."""

import datetime
import decimal
import sys

import adbc_driver_flightsql.dbapi as dbapi
import adbc_driver_manager
import pandas
import polars
import pyarrow as pa

from flight_features import equal, feature, print_outcomes

URI, USER, PASSWORD, TOKEN = sys.argv[1:5]
SCHEMA = "lake.flight_adbc"


def connect(autocommit=True, **options):
    given = options or {"username": USER, "password": PASSWORD}
    return dbapi.connect(URI, db_kwargs=given, autocommit=autocommit)


def rows(cursor, sql, parameters=None):
    cursor.execute(sql, parameters)
    return cursor.fetchall()


@feature("sign in")
def sign_in():
    import base64

    basic = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
    for options in [
        {"username": USER, "password": PASSWORD},
        {"username": USER, "password": TOKEN},
        {"adbc.flight.sql.authorization_header": f"Bearer {TOKEN}"},
        {"adbc.flight.sql.authorization_header": f"Basic {basic}"},
        {"username": USER, "password": PASSWORD, "adbc.flight.sql.rpc.with_cookie_middleware": "true"},
    ]:
        with connect(**options) as connection, connection.cursor() as cursor:
            equal(rows(cursor, "SELECT 42"), [(42,)])
    try:
        connect(username=USER, password="wrong")
    except adbc_driver_manager.Error as error:
        assert "28" in str(error), error
    else:
        raise AssertionError("a wrong password signs in")


@feature("queries")
def queries():
    with connect() as connection, connection.cursor() as cursor:
        cursor.execute("SELECT l_orderkey FROM lake.tpch.lineitem")
        table = cursor.fetch_arrow_table()
        equal(table.num_rows, rows(cursor, "SELECT count(*) FROM lake.tpch.lineitem")[0][0])
        equal(rows(cursor, "SHOW SCHEMAS FROM lake LIKE 'tpch'"), [("tpch",)])
        assert rows(cursor, "EXPLAIN SELECT 1") != []


@feature("statements without rows")
def updates():
    with connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE OR REPLACE TABLE {SCHEMA}.updates (x INT, s VARCHAR)")
        cursor.execute(f"INSERT INTO {SCHEMA}.updates VALUES (1, 'a'), (2, 'b'), (3, 'c')")
        equal(cursor.rowcount, 3)
        cursor.execute(f"DELETE FROM {SCHEMA}.updates WHERE x > 1")
        equal(rows(cursor, f"SELECT * FROM {SCHEMA}.updates"), [(1, "a")])
        cursor.execute(f"DROP TABLE {SCHEMA}.updates")


@feature("parameters")
def parameters():
    with connect() as connection, connection.cursor() as cursor:
        equal(rows(cursor, "SELECT n_name FROM lake.tpch.nation WHERE n_nationkey = ?", (7,)), [("GERMANY",)])
        equal(rows(cursor, "SELECT n_nationkey FROM lake.tpch.nation WHERE n_name = $1", ("GERMANY",)), [(7,)])
        values = [
            7,
            -1.5,
            "it's \\ ünï 'quoted'",
            b"\x00\xff",
            True,
            None,
            datetime.date(2020, 2, 29),
            datetime.datetime(2020, 1, 2, 3, 4, 5, 678901),
            decimal.Decimal("-12345.678"),
        ]
        marks = ", ".join("?" for _ in values)
        equal(list(rows(cursor, f"SELECT {marks}", values)[0]), values)
        try:
            rows(cursor, "SELECT ?")
        except adbc_driver_manager.Error as error:
            assert "42P02" in str(error), error
        else:
            raise AssertionError("a parameter without a value is taken")


@feature("many bound rows")
def many():
    with connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE OR REPLACE TABLE {SCHEMA}.many (x BIGINT, s VARCHAR)")
        cursor.executemany(f"INSERT INTO {SCHEMA}.many VALUES (?, ?)", [(i, f"row {i}") for i in range(7_000)])
        equal(rows(cursor, f"SELECT count(*), sum(x)::BIGINT FROM {SCHEMA}.many"), [(7_000, 24_496_500)])
        cursor.executemany(f"UPDATE {SCHEMA}.many SET s = ? WHERE x = ?", [("new", 1), ("new", 2)])
        equal(rows(cursor, f"SELECT count(*) FROM {SCHEMA}.many WHERE s = 'new'"), [(2,)])
        cursor.adbc_statement.set_sql_query("SELECT s FROM " + SCHEMA + ".many WHERE x = ?")
        cursor.adbc_statement.prepare()
        cursor.adbc_statement.bind_stream(pa.table({"x": pa.array([5, 3], pa.int64())}).to_reader())
        stream, _ = cursor.adbc_statement.execute_query()
        equal(pa.RecordBatchReader._import_from_c(stream.address).read_all().to_pydict(), {"s": ["row 5", "row 3"]})
        try:
            cursor.executemany(f"INSERT INTO {SCHEMA}.many VALUES (CAST(? AS INT), 'x')", [("1",), ("one",)])
        except adbc_driver_manager.Error:
            pass
        else:
            raise AssertionError("a row that is no number is taken")
        equal(rows(cursor, f"SELECT count(*) FROM {SCHEMA}.many"), [(7_000,)])


@feature("transactions")
def transactions():
    with connect(autocommit=False) as connection, connect() as other:
        with connection.cursor() as cursor, other.cursor() as outside:
            cursor.execute(f"CREATE OR REPLACE TABLE {SCHEMA}.transactions (x INT)")
            connection.commit()
            cursor.execute(f"INSERT INTO {SCHEMA}.transactions VALUES (1)")
            equal(rows(cursor, f"SELECT count(*) FROM {SCHEMA}.transactions"), [(1,)])
            equal(rows(outside, f"SELECT count(*) FROM {SCHEMA}.transactions"), [(0,)])
            connection.rollback()
            equal(rows(cursor, f"SELECT count(*) FROM {SCHEMA}.transactions"), [(0,)])
            cursor.execute(f"INSERT INTO {SCHEMA}.transactions VALUES (2)")
            connection.commit()
            equal(rows(outside, f"SELECT * FROM {SCHEMA}.transactions"), [(2,)])
            connection.commit()
            cursor.execute(f"DROP TABLE {SCHEMA}.transactions")
            connection.commit()


@feature("ingest")
def ingest():
    with connect() as connection, connection.cursor() as cursor:
        columns = {
            "x": pa.array([1, -2, None], pa.int64()),
            "s": ["a", None, "c'd"],
            "t": pa.array([0, -1, None], pa.timestamp("us", "UTC")),
            "d": pa.array([datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]),
            "n": pa.array([decimal.Decimal("-1.50"), None, decimal.Decimal("0.05")], pa.decimal128(9, 2)),
        }
        table = pa.table(columns)
        place = {"catalog_name": "lake", "db_schema_name": "flight_adbc"}
        cursor.execute(f"DROP TABLE IF EXISTS {SCHEMA}.ingested")
        equal(cursor.adbc_ingest("ingested", table, mode="create", **place), 3)
        cursor.execute(f"SELECT * FROM {SCHEMA}.ingested")
        equal(cursor.fetch_arrow_table().to_pydict(), table.to_pydict())
        for mode, count in [("append", 6), ("replace", 3), ("create_append", 6)]:
            cursor.adbc_ingest("ingested", table, mode=mode, **place)
            equal(rows(cursor, f"SELECT count(*) FROM {SCHEMA}.ingested"), [(count,)])
        for name, mode in [("ingested", "create"), ("nothing", "append")]:
            try:
                cursor.adbc_ingest(name, table, mode=mode, **place)
            except adbc_driver_manager.Error:
                continue
            raise AssertionError(f"{mode} into {name}")


@feature("metadata")
def metadata():
    with connect() as connection, connection.cursor() as cursor:
        cursor.execute(f"CREATE OR REPLACE TABLE {SCHEMA}.described (id BIGINT NOT NULL, d DECIMAL(9, 2))")
        equal(connection.adbc_get_info()["vendor_name"], "Skein")
        assert "TABLE" in connection.adbc_get_table_types()
        objects = connection.adbc_get_objects(depth="all", catalog_filter="lake", db_schema_filter="flight_adbc")
        [catalog] = objects.read_all().to_pylist()
        [schema] = catalog["catalog_db_schemas"]
        table = next(one for one in schema["db_schema_tables"] if one["table_name"] == "described")
        equal([one["column_name"] for one in table["table_columns"]], ["id", "d"])
        described = connection.adbc_get_table_schema("described", catalog_filter="lake", db_schema_filter="flight_adbc")
        equal(described.field("id").type, pa.int64())
        assert not described.field("id").nullable
        equal(described.field("d").type, pa.decimal128(9, 2))


@feature("catalog and schema of the session")
def session():
    with connect() as connection, connection.cursor() as cursor:
        equal((connection.adbc_current_catalog, connection.adbc_current_db_schema), ("lake", "default"))
        connection.adbc_current_db_schema = "tpch"
        equal(rows(cursor, "SELECT count(*) FROM nation"), [(25,)])
        with connect() as other:
            equal(other.adbc_current_db_schema, "default")


@feature("errors with SQLSTATE and place")
def errors():
    with connect() as connection, connection.cursor() as cursor:
        try:
            rows(cursor, "SELECT 1,\n nothing")
        except adbc_driver_manager.ProgrammingError as error:
            assert "[42703]" in str(error) and "line 2, column 2" in str(error), error
        else:
            raise AssertionError("no error")
        equal(rows(cursor, "SELECT 1"), [(1,)])


@feature("cancel")
def cancel():
    import threading
    import time

    with connect() as connection, connection.cursor() as cursor:
        threading.Timer(1, cursor.adbc_cancel).start()
        began = time.monotonic()
        try:
            rows(cursor, "SELECT count(*) FROM range(100000000000) WHERE range % 7 = 9")
        except adbc_driver_manager.Error:
            pass
        assert time.monotonic() - began < 15


@feature("data frames")
def frames():
    with connect() as connection:
        sql = "SELECT n_nationkey, n_name FROM lake.tpch.nation ORDER BY 1"
        equal(pandas.read_sql(sql, connection)["n_name"][7], "GERMANY")
        equal(polars.read_database(sql, connection)["n_name"][7], "GERMANY")


@feature("incremental execution")
def incremental():
    with connect() as connection, connection.cursor() as cursor:
        cursor.adbc_statement.set_options(**{"adbc.statement.exec.incremental": "true"})
        partitions, _ = cursor.adbc_execute_partitions("SELECT 42")
        cursor.adbc_read_partition(partitions[0])
        equal(cursor.fetchall(), [(42,)])


with connect() as connection, connection.cursor() as cursor:
    cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
print_outcomes()
