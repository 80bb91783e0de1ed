"""Rows of every Arrow type that go into tables by ADBC's ingest, and come back. Prints the outcome of each as JSON: "ok", or what went wrong."""

import datetime
import decimal
import json
import sys
import traceback
import uuid

import adbc_driver_flightsql.dbapi as dbapi
import adbc_driver_manager
import polars
import pyarrow as pa

URI, USER, PASSWORD = sys.argv[1:4]
SCHEMA = "lake.flight_ingest"
PLACE = {"catalog_name": "lake", "db_schema_name": "flight_ingest"}
UTC = datetime.timezone.utc
MOMENT = datetime.datetime(2020, 2, 29, 3, 4, 5)
UUID = uuid.UUID("01234567-89ab-4cde-8f01-23456789abcd")


def decimals(kind, *texts):
    return pa.array([None if text is None else decimal.Decimal(text) for text in texts], kind)


def dictionary():
    return pa.DictionaryArray.from_arrays(pa.array([1, None, 0, 1], pa.int16()), pa.array(["a", "ünï 'b'"]))


# The column as it is sent, and the values that come back where they are not the same.
COLUMNS = {
    "bool": pa.array([True, None, False, True]),
    "int8": pa.array([-128, None, 127, 0], pa.int8()),
    "int16": pa.array([-(2**15), None, 2**15 - 1, 0], pa.int16()),
    "int32": pa.array([-(2**31), None, 2**31 - 1, 0], pa.int32()),
    "int64": pa.array([-(2**63), None, 2**63 - 1, 0], pa.int64()),
    "uint8": pa.array([255, None, 0, 1], pa.uint8()),
    "uint16": pa.array([2**16 - 1, None, 0, 1], pa.uint16()),
    "uint32": pa.array([2**32 - 1, None, 0, 1], pa.uint32()),
    "uint64": pa.array([2**64 - 1, None, 0, 1], pa.uint64()),
    "half": pa.array([1.5, None, -2.0**-24, float("inf")], pa.float16()),
    "float": pa.array([1.5, None, -0.0, float("-inf")], pa.float32()),
    "double": pa.array([1e300, None, -0.0, 5e-324], pa.float64()),
    "decimal32": decimals(pa.decimal32(9, 2), "-1234567.89", None, "0", "0.01"),
    "decimal64": decimals(pa.decimal64(18, 3), "-123456789012345.678", None, "0", "0.001"),
    "decimal128": decimals(pa.decimal128(38, 10), "-1234567890123456789012345678.0123456789", None, "0", "1"),
    "decimal256": decimals(pa.decimal256(38, 2), "-123456789012345678901234567890123456.78", None, "0", "1"),
    "utf8": pa.array(["it's", None, "", "ünï 🦆"]),
    "large_utf8": pa.array(["it's", None, "", "ünï 🦆"], pa.large_utf8()),
    "utf8_view": pa.array(["short", None, "", "longer than twelve bytes 🦆"], pa.string_view()),
    "binary": pa.array([b"\x00\xff", None, b"", b"x"], pa.binary()),
    "large_binary": pa.array([b"\x00\xff", None, b"", b"x"], pa.large_binary()),
    "binary_view": pa.array([b"\x00\xff", None, b"", b"\xfe" * 30], pa.binary_view()),
    "uuid": pa.array([UUID.bytes, None, b"\0" * 16, b"\xff" * 16], pa.uuid()),
    "list_of_uuid": pa.ListArray.from_arrays(
        pa.array([0, 2, None, 2, 3], pa.int32()), pa.array([UUID.bytes, None, b"\xff" * 16], pa.uuid())
    ),
    "fixed_binary": pa.array([b"\x00\xff", None, b"ab", b"xy"], pa.binary(2)),
    "date32": pa.array([datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31), datetime.date(1970, 1, 1)]),
    "date64": pa.array([datetime.date(1, 1, 1), None, datetime.date(9999, 12, 31), MOMENT.date()], pa.date64()),
    "time_s": pa.array([datetime.time(1, 2, 3), None, datetime.time(0), datetime.time(23, 59, 59)], pa.time32("s")),
    "time_ms": pa.array([datetime.time(1, 2, 3, 4000), None, datetime.time(0), datetime.time(23)], pa.time32("ms")),
    "time_us": pa.array([datetime.time(1, 2, 3, 4), None, datetime.time(0), datetime.time(23)], pa.time64("us")),
    "time_ns": pa.array([datetime.time(1, 2, 3, 4), None, datetime.time(0), datetime.time(23)], pa.time64("ns")),
    "timestamp_s": pa.array([MOMENT, None, datetime.datetime(1900, 1, 1), MOMENT], pa.timestamp("s")),
    "timestamp_ms": pa.array([MOMENT, None, datetime.datetime(1900, 1, 1), MOMENT], pa.timestamp("ms")),
    "timestamp_us": pa.array([MOMENT, None, datetime.datetime(1, 1, 1), MOMENT], pa.timestamp("us")),
    "timestamp_us_utc": pa.array([MOMENT, None, datetime.datetime(1, 1, 1), MOMENT], pa.timestamp("us", "UTC")),
    "timestamp_ns": pa.array([MOMENT, None, MOMENT.replace(microsecond=7), MOMENT], pa.timestamp("ns")),
    "timestamp_ns_zone": pa.array([MOMENT, None, MOMENT, MOMENT], pa.timestamp("ns", "Europe/Berlin")),
    "null": pa.nulls(4),
    "dictionary": dictionary(),
    "list": pa.array([[1, None], None, [], [3]], pa.list_(pa.int32())),
    "large_list": pa.array([["a", None], None, [], ["b"]], pa.large_list(pa.large_utf8())),
    "fixed_list": pa.array([[1, 2], None, [3, None], [4, 5]], pa.list_(pa.int64(), 2)),
    "struct": pa.array([{"a": 1, "b": "x"}, None, {"a": None, "b": None}, {"a": 2, "b": ""}]),
    "map": pa.array([[("k", 1)], None, [], [("a", None), ("b", 2)]], pa.map_(pa.utf8(), pa.int32())),
    "nested": pa.array(
        [[{"d": ["x", None]}], None, [], [{"d": None}, None]],
        pa.list_(pa.struct([("d", pa.list_(pa.string_view()))])),
    ),
    "list_of_dictionary": pa.ListArray.from_arrays(pa.array([0, 2, None, 3, 4], pa.int32()), dictionary()),
}
REFUSED = {
    "run_end": pa.RunEndEncodedArray.from_arrays([2, 4], pa.array(["a", "b"])),
    "list_view": pa.array([[1], None], pa.list_view(pa.int32())),
    "sparse_union": pa.UnionArray.from_sparse(pa.array([0, 0], pa.int8()), [pa.array([1, 2])]),
    "wide_decimal": pa.array([decimal.Decimal(1)], pa.decimal256(39, 2)),
    "too_fine": pa.array([1_001], pa.timestamp("ns")),
    "too_fine_zone": pa.array([1_001], pa.timestamp("ns", "UTC")),
}


def plain(value):
    if isinstance(value, list) and any(isinstance(one, uuid.UUID) for one in value):
        return repr([None if one is None else str(one) for one in value])
    if isinstance(value, uuid.UUID):
        return repr(str(value))
    if isinstance(value, datetime.datetime):
        # pandas' moments are of another class, and equal.
        value = value.replace(nanosecond=0) if hasattr(value, "nanosecond") else value
        return value.astimezone(UTC).isoformat() if value.tzinfo else value.isoformat()
    return repr(value)


def ingest_and_read(cursor, table, sql=None):
    cursor.execute(f"DROP TABLE IF EXISTS {SCHEMA}.t")
    cursor.adbc_ingest("t", table, mode="create", **PLACE)
    cursor.execute(sql or f"SELECT * FROM {SCHEMA}.t")
    return cursor.fetch_arrow_table()


def of_type(name):
    def work():
        with dbapi.connect(URI, db_kwargs={"username": USER, "password": PASSWORD}, autocommit=True) as connection:
            with connection.cursor() as cursor:
                sent = pa.table({name: COLUMNS[name]})
                got = ingest_and_read(cursor, sent)
                wanted = [plain(one) for one in sent[name].to_pylist()]
                if name.startswith(("uint64",)):
                    wanted = [plain(None if one is None else decimal.Decimal(one)) for one in sent[name].to_pylist()]
                given = [plain(one) for one in got[name].to_pylist()]
                assert given == wanted, f"{given} is not {wanted}"

    return work


def refused(name):
    def work():
        with dbapi.connect(URI, db_kwargs={"username": USER, "password": PASSWORD}, autocommit=True) as connection:
            with connection.cursor() as cursor:
                try:
                    ingest_and_read(cursor, pa.table({"fine": [1] * len(REFUSED[name]), name: REFUSED[name]}))
                except adbc_driver_manager.Error as error:
                    expected = "[22003]" if name.startswith("too_fine") else "[0A000]"
                    assert expected in str(error) and (name in str(error) or expected == "[22003]"), error
                    return
                raise AssertionError("it is taken")

    return work


def many():
    """Batches of many rows: all arrive, once, as one snapshot."""
    count = 700_000
    table = pa.table({"x": pa.array(range(count), pa.int64()), "s": [f"row {i % 1000}" for i in range(count)]})
    with dbapi.connect(URI, db_kwargs={"username": USER, "password": PASSWORD}, autocommit=True) as connection:
        with connection.cursor() as cursor:
            cursor.execute(f"DROP TABLE IF EXISTS {SCHEMA}.many")
            given = table.to_reader(max_chunksize=50_000)
            assert cursor.adbc_ingest("many", given, mode="create", **PLACE) == count
            cursor.execute(f"SELECT count(*), count(DISTINCT x), sum(x)::BIGINT, max(s) FROM {SCHEMA}.many")
            assert cursor.fetchone() == (count, count, count * (count - 1) // 2, "row 999")
            cursor.execute(f'SELECT count(*) FROM {SCHEMA}."many$snapshots"')
            assert cursor.fetchone()[0] == 1
            one_batch = pa.table({"x": pa.array([1] * count, pa.int64()).cast(pa.int8()).cast(pa.int64())})
            assert cursor.adbc_ingest("many", one_batch, mode="append", **PLACE) == count
            cursor.execute(f'SELECT count(*) FROM {SCHEMA}."many$snapshots"')
            assert cursor.fetchone()[0] == 2


def empty():
    """A batch without rows; the driver sends nothing at all of a table without batches."""
    nothing = pa.record_batch({"x": pa.array([], pa.int64()), "s": pa.array([], pa.utf8())})
    with dbapi.connect(URI, db_kwargs={"username": USER, "password": PASSWORD}, autocommit=True) as connection:
        with connection.cursor() as cursor:
            got = ingest_and_read(cursor, pa.RecordBatchReader.from_batches(nothing.schema, [nothing]))
            assert got.num_rows == 0 and got.column_names == ["x", "s"]


def polars_frame():
    frame = polars.DataFrame({"x": [1, 2, None], "s": ["a", None, "longer than twelve bytes"]})
    with_category = frame.with_columns(c=polars.Series(["u", "v", "u"], dtype=polars.Categorical))
    with dbapi.connect(URI, db_kwargs={"username": USER, "password": PASSWORD}, autocommit=True) as connection:
        with connection.cursor() as cursor:
            got = ingest_and_read(cursor, with_category)
            assert got.to_pydict() == {"x": [1, 2, None], "s": frame["s"].to_list(), "c": ["u", "v", "u"]}, got


def bound():
    """Rows that are bound to the parameters of an INSERT are one snapshot; those bound to a query read one."""
    count = 20_000
    with dbapi.connect(URI, db_kwargs={"username": USER, "password": PASSWORD}, autocommit=True) as connection:
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE OR REPLACE TABLE {SCHEMA}.bound (x INT, d DATE, s VARCHAR)")
            insert = f"INSERT INTO {SCHEMA}.bound (d, x) VALUES (?, ?)"
            cursor.executemany(insert, [("2020-02-29", i) for i in range(count)])
            cursor.execute(f"SELECT count(*), count(DISTINCT x), min(d), max(s) FROM {SCHEMA}.bound")
            assert cursor.fetchone() == (count, count, datetime.date(2020, 2, 29), None)
            cursor.execute(f'SELECT count(*) FROM {SCHEMA}."bound$snapshots"')
            assert cursor.fetchone()[0] == 1
            try:
                cursor.executemany(insert, [("2020-02-30" if i == 999 else "2020-02-29", i) for i in range(1_000)])
            except adbc_driver_manager.Error as error:
                assert "22" in str(error), error
            else:
                raise AssertionError("a day that is none is taken")
            cursor.executemany(insert, [])
            cursor.execute(f"SELECT count(*) FROM {SCHEMA}.bound")
            assert cursor.fetchone()[0] == count


def bound_uuids():
    """UUIDs that are bound to an INSERT, by its text and as rows, and to a query."""
    with dbapi.connect(URI, db_kwargs={"username": USER, "password": PASSWORD}, autocommit=True) as connection:
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE OR REPLACE TABLE {SCHEMA}.bound_uuids (u UUID, x INT)")
            for count in [3, 600]:
                uuids = pa.array([UUID.bytes] * count, pa.uuid())
                rows = pa.record_batch({"u": uuids, "x": pa.array(range(count), pa.int32())})
                cursor.executemany(f"INSERT INTO {SCHEMA}.bound_uuids VALUES (?, ?)", rows)
            cursor.execute(f"SELECT count(*), min(u), max(u) FROM {SCHEMA}.bound_uuids")
            assert cursor.fetchone() == (603, str(UUID), str(UUID))
            rows = pa.record_batch({"u": pa.array([UUID.bytes], pa.uuid())})
            cursor.executemany(f"DELETE FROM {SCHEMA}.bound_uuids WHERE u = ?", rows)
            cursor.execute(f"SELECT count(*) FROM {SCHEMA}.bound_uuids")
            assert cursor.fetchone() == (0,)


def returning():
    """Rows that a statement returns may be more than the coordinator holds in memory."""
    with dbapi.connect(URI, db_kwargs={"username": USER, "password": PASSWORD}, autocommit=True) as connection:
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE OR REPLACE TABLE {SCHEMA}.returned (x BIGINT, s VARCHAR)")
            cursor.execute(
                f"INSERT INTO {SCHEMA}.returned SELECT range, repeat('s', 100) FROM range(200000) RETURNING x, s"
            )
            got = cursor.fetch_arrow_table()
            assert got.num_rows == 200_000 and got.nbytes > 20_000_000
            assert sum(got["x"].to_pylist()) == 200_000 * 199_999 // 2


def all_or_nothing():
    """A row that the table does not take leaves the table as it was; so does a client that fails in the middle."""

    def failing():
        yield pa.record_batch({"x": pa.array([1] * 1000, pa.int64())})
        raise ValueError("the client fails")

    with dbapi.connect(URI, db_kwargs={"username": USER, "password": PASSWORD}, autocommit=True) as connection:
        with connection.cursor() as cursor:
            cursor.execute(f"CREATE OR REPLACE TABLE {SCHEMA}.narrow (x INT NOT NULL)")
            cursor.execute(f"INSERT INTO {SCHEMA}.narrow VALUES (7)")
            reader = pa.RecordBatchReader.from_batches(pa.schema([("x", pa.int64())]), failing())
            for rows in [pa.table({"x": [1, 2**40]}), pa.table({"x": [1, None]}), reader]:
                try:
                    cursor.adbc_ingest("narrow", rows, mode="append", **PLACE)
                except Exception:
                    continue
                raise AssertionError("it is taken")
            cursor.execute(f"SELECT * FROM {SCHEMA}.narrow")
            assert cursor.fetchall() == [(7,)]


WORK = {
    "many batches are one snapshot": many,
    "no rows": empty,
    "polars": polars_frame,
    "all or nothing": all_or_nothing,
    "many bound rows are one snapshot": bound,
    "bound UUIDs": bound_uuids,
    "RETURNING beyond what is held in memory": returning,
    **{f"type {name}": of_type(name) for name in COLUMNS},
    **{f"refused {name}": refused(name) for name in REFUSED},
}
outcomes = {}
with dbapi.connect(URI, db_kwargs={"username": USER, "password": PASSWORD}, autocommit=True) as connection:
    with connection.cursor() as cursor:
        cursor.execute(f"CREATE SCHEMA IF NOT EXISTS {SCHEMA}")
for name, work in WORK.items():
    try:
        work()
        outcomes[name] = "ok"
    except Exception:
        outcomes[name] = traceback.format_exc(limit=-2)
print(json.dumps(outcomes))
