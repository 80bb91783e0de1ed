"""Each feature of the Postgres wire by psqlODBC: a line `feature, outcome` for each, with a tab.

    postgres_odbc.py DRIVER HOST PORT USER PASSWORD
"""

import datetime
import decimal
import sys
import time
import traceback
import uuid

import pyodbc

DRIVER, HOST, PORT, USER, PASSWORD = sys.argv[1:]
COUNT = 1_000
SERIES = f"SELECT i::INTEGER AS i FROM range({COUNT}) r(i) ORDER BY i"
#: A value of each type that ODBC has, and the type.
VALUES = [
    ("BOOLEAN", [True, False, None]),
    ("SMALLINT", [-(2**15), 2**15 - 1, None]),
    ("INTEGER", [-(2**31), 2**31 - 1, None]),
    ("BIGINT", [-(2**63), 2**63 - 1, None]),
    ("REAL", [0.5, -1.5, None]),
    ("DOUBLE PRECISION", [0.1, 1e300, None]),
    ("NUMERIC(18,4)", [decimal.Decimal("-99999999999999.9999"), decimal.Decimal("0.0001"), None]),
    ("TEXT", ["", "ä€😀\tx'y\"\\", None]),
    ("BYTEA", [b"\x01", b"\x00\xff'\\", None]),
    ("DATE", [datetime.date(1, 1, 1), datetime.date(9999, 12, 31), None]),
    ("TIME", [datetime.time(0), datetime.time(23, 59, 59), None]),
    ("TIMESTAMP", [datetime.datetime(1, 1, 1), datetime.datetime(9999, 12, 31, 23, 59, 59, 999999), None]),
    ("UUID", [uuid.UUID(int=0), uuid.UUID(int=2**128 - 1), None]),
]
pyodbc.native_uuid = True


def connect(password=PASSWORD, **more):
    settings = {"SERVER": HOST, "PORT": PORT, "DATABASE": "lake", "UID": USER, "PWD": password, "SSLmode": "disable", "BoolsAsChar": 0, "ByteaAsLongVarBinary": 1, **more}
    text = ";".join(f"{key}={value}" for key, value in settings.items())
    return pyodbc.connect(f"DRIVER={{{DRIVER}}};{text}", autocommit=True)


def same(given, expected):
    assert given == expected, f"{given!r} is not {expected!r}"


def fails(code, work):
    try:
        work()
    except pyodbc.Error as error:
        same(error.args[0], code)
        return str(error)
    raise AssertionError(f"no error {code}")


def table(connection, columns):
    name = f"lake.drivers.odbc_{time.monotonic_ns()}"
    connection.execute(f"CREATE TABLE {name} ({columns})")
    return name


def sign_in(_):
    # The driver has one code for all that goes wrong as it connects.
    said = fails("08001", lambda: connect(password="wrong"))
    assert "password" in said, said


def queries(connection):
    rows = connection.execute("SELECT i, 'v' || i FROM range(3) r(i) ORDER BY i").fetchall()
    same([tuple(row) for row in rows], [(0, "v0"), (1, "v1"), (2, "v2")])


def parameters(connection):
    cursor = connection.execute("SELECT n_name FROM lake.tpch.nation WHERE n_nationkey = ? AND n_name = ?", 7, "GERMANY")
    same([tuple(row) for row in cursor.fetchall()], [("GERMANY",)])


def every_type(connection):
    name = table(connection, "k INTEGER, " + ", ".join(f"c{i} {kind}" for i, (kind, _) in enumerate(VALUES)))
    expected = [(k, *(values[k] for _, values in VALUES)) for k in range(3)]
    marks = ", ".join(["?"] * (len(VALUES) + 1))
    for row in expected:
        connection.execute(f"INSERT INTO {name} VALUES ({marks})", *row)
    same([tuple(row) for row in connection.execute(f"SELECT * FROM {name} ORDER BY k").fetchall()], expected)


def many_bound_rows(connection):
    name = table(connection, "i INTEGER, t TEXT")
    cursor = connection.cursor()
    # An array of parameters, which the driver sends in its own way.
    cursor.fast_executemany = True
    cursor.executemany(f"INSERT INTO {name} VALUES (?, ?)", [(i, f"v{i}") for i in range(50)])
    same(tuple(connection.execute(f"SELECT count(*)::INTEGER, sum(i)::INTEGER FROM {name}").fetchone()), (50, 49 * 25))


def transactions(connection):
    name = table(connection, "i INTEGER")
    connection.autocommit = False
    connection.execute(f"INSERT INTO {name} VALUES (1)")
    # The driver sets a savepoint before each statement, and goes back to it by itself.
    fails("42703", lambda: connection.execute("SELECT nothing_here").fetchall())
    connection.execute(f"INSERT INTO {name} VALUES (2)")
    connection.commit()
    connection.execute(f"INSERT INTO {name} VALUES (4)")
    connection.rollback()
    connection.autocommit = True
    same(connection.execute(f"SELECT sum(i)::INTEGER FROM {name}").fetchone()[0], 3)


def cursors(_):
    with connect(UseDeclareFetch=1, Fetch=100) as connection:
        connection.autocommit = False
        same([row[0] for row in connection.execute(SERIES)], list(range(COUNT)))
        connection.commit()


def errors(connection):
    said = fails("42703", lambda: connection.execute("SELECT 1,\n nothing_here").fetchall())
    assert "nothing_here" in said, said


FEATURES = {
    "sign in": sign_in,
    "queries": queries,
    "parameters": parameters,
    "every type, with edge values and NULL": every_type,
    "many bound rows": many_bound_rows,
    "transactions and savepoints": transactions,
    "cursors": cursors,
    "errors with SQLSTATE and place": errors,
}

with connect() as first:
    first.execute("CREATE SCHEMA IF NOT EXISTS lake.drivers")
for feature, work in FEATURES.items():
    connection = connect()
    try:
        work(connection)
        outcome = "ok"
    except BaseException:
        outcome = " ".join(traceback.format_exc().split())[-600:]
    print(feature, outcome, sep="\t", flush=True)
