"""A table with every type of Iceberg, with values at the ends of each and NULL.

    flight_types.py write CATALOG_URL TOKEN           writes it through PyIceberg
    flight_types.py read FLIGHT_URL USER PASSWORD IPC  reads it by ADBC and by pyarrow, and from a file that another client has given

`write` prints the rows, as texts; `read` the rows of each reader in the same form.
"""

import datetime
import decimal
import json
import struct
import sys
import uuid

import pyarrow as pa

NAME = "flight_types.every"
COLUMNS = [
    ("id", "IntegerType()", pa.int32(), [1, 2, 3, 4]),
    ("b", "BooleanType()", pa.bool_(), [True, False, None, True]),
    ("i", "IntegerType()", pa.int32(), [-(2**31), 2**31 - 1, None, 0]),
    ("l", "LongType()", pa.int64(), [-(2**63), 2**63 - 1, None, 2**53 + 1]),
    ("f", "FloatType()", pa.float32(), [float("-inf"), 3.4028234663852886e38, None, -0.0]),
    ("d", "DoubleType()", pa.float64(), [float("nan"), 5e-324, None, 1.7976931348623157e308]),
    ("d4", "DecimalType(4, 2)", pa.decimal128(4, 2), ["-99.99", "99.99", None, "0.01"]),
    ("d18", "DecimalType(18, 0)", pa.decimal128(18, 0), ["-999999999999999999", "999999999999999999", None, "0"]),
    ("d38", "DecimalType(38, 10)", pa.decimal128(38, 10), ["-9999999999999999999999999999.9999999999", "9999999999999999999999999999.9999999999", None, "0.0000000001"]),
    ("dt", "DateType()", pa.date32(), ["0001-01-01", "9999-12-31", None, "1969-12-31"]),
    ("t", "TimeType()", pa.time64("us"), ["00:00:00", "23:59:59.999999", None, "12:34:56.000001"]),
    ("ts", "TimestampType()", pa.timestamp("us"), ["0001-01-01T00:00:00", "9999-12-31T23:59:59.999999", None, "1969-12-31T23:59:59.999999"]),
    ("tz", "TimestamptzType()", pa.timestamp("us", "UTC"), ["0001-01-01T00:00:00+00:00", "9999-12-31T23:59:59.999999+00:00", None, "1969-07-20T20:17:40.123456+00:00"]),
    ("s", "StringType()", pa.string(), ["", "ä€😀\tx'y\"\\\0", None, "e\u0301"]),
    ("u", "UUIDType()", pa.uuid(), ["00000000-0000-0000-0000-000000000000", "ffffffff-ffff-ffff-ffff-ffffffffffff", None, "01234567-89ab-4cde-8f01-23456789abcd"]),
    ("fx", "FixedType(4)", pa.binary(4), [b"\0\0\0\0", b"\xff\xff\xff\xff", None, b"a\0\x80z"]),
    ("bin", "BinaryType()", pa.binary(), [b"", b"\x00\xff\x80", None, b"a"]),
    ("li", "ListType(101, IntegerType(), False)", pa.list_(pa.int32()), [[], [None, -1, 2**31 - 1], None, [0]]),
    ("m", "MapType(102, StringType(), 103, DoubleType(), False)", pa.map_(pa.string(), pa.float64()), [[], [("", float("inf")), ("k", None)], None, [("é", 1.5)]]),
    (
        "st",
        "StructType(NestedField(104, 'x', DoubleType()), NestedField(105, 'y', ListType(106, StringType(), False)))",
        pa.struct([("x", pa.float64()), ("y", pa.list_(pa.string()))]),
        [{"x": -0.0, "y": []}, {"x": None, "y": ["a", None]}, None, {"x": 0.1, "y": None}],
    ),
]
READ = {
    pa.date32(): datetime.date.fromisoformat,
    pa.time64("us"): datetime.time.fromisoformat,
    pa.timestamp("us"): datetime.datetime.fromisoformat,
    pa.timestamp("us", "UTC"): datetime.datetime.fromisoformat,
    pa.uuid(): lambda text: uuid.UUID(text).bytes,
}


def text(value):
    """A value as a text that says every bit of it."""
    if value is None or isinstance(value, (bool, int)):
        return value if value is None else str(value).lower()
    if isinstance(value, float):
        return struct.pack(">d", value).hex()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, (datetime.datetime, datetime.time)):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, (list, tuple)):
        return [text(one) for one in value]
    if isinstance(value, dict):
        return {name: text(one) for name, one in value.items()}
    return str(value)


def texts(table):
    return [{name: text(value) for name, value in row.items()} for row in table.sort_by("id").to_pylist()]


def column(kind, values):
    if pa.types.is_decimal(kind):
        values = [None if value is None else decimal.Decimal(value) for value in values]
    if kind in READ:
        values = [None if value is None else READ[kind](value) for value in values]
    return pa.array(values, kind)


def write(url, token):
    import pyiceberg.types as types
    from pyiceberg.catalog import load_catalog
    from pyiceberg.schema import Schema

    catalog = load_catalog("lake", type="rest", uri=url, warehouse="lake", token=token)
    catalog.create_namespace_if_not_exists("flight_types")
    fields = [types.NestedField(i + 1, name, eval(kind, vars(types))) for i, (name, kind, _, _) in enumerate(COLUMNS)]
    table = catalog.create_table(NAME, Schema(*fields))
    rows = pa.table({name: column(kind, values) for name, _, kind, values in COLUMNS})
    table.append(rows)
    return texts(rows)


def read(url, user, password, ipc):
    import adbc_driver_flightsql.dbapi as dbapi

    from flight_sql_messages import Connection

    sql = f"SELECT * FROM lake.{NAME}"
    with dbapi.connect(url, db_kwargs={"username": user, "password": password}, autocommit=True) as connection:
        with connection.cursor() as cursor:
            cursor.execute(sql)
            adbc = cursor.fetch_arrow_table()
    with Connection(url, user, password) as connection:
        pyarrow = connection.query(sql)
    with pa.OSFile(ipc) as file:
        data = file.read()
    opened = pa.ipc.open_file(data) if data[:6] == b"ARROW1" else pa.ipc.open_stream(data)
    tables = {"ADBC (Go)": adbc, "pyarrow (C++)": pyarrow, "arrow-flight (Rust)": opened.read_all()}
    return {
        "types": {name: [str(one.type) for one in table.schema] for name, table in tables.items()},
        "rows": {name: texts(table) for name, table in tables.items()},
    }


print(json.dumps((write if sys.argv[1] == "write" else read)(*sys.argv[2:])))
