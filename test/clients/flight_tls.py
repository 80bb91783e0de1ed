"""Signs in by ADBC and by pyarrow with an authority (`-`: none), and prints the outcomes. Arguments: url, user, password, file of the authority."""

import json
import sys

import adbc_driver_flightsql.dbapi as dbapi

from flight_sql_messages import Connection

URL, USER, PASSWORD, AUTHORITY = sys.argv[1:]
PEM = None if AUTHORITY == "-" else open(AUTHORITY).read()


def adbc():
    trust = {} if PEM is None else {"adbc.flight.sql.client_option.tls_root_certs": PEM}
    options = {"username": USER, "password": PASSWORD, **trust}
    with dbapi.connect(URL, db_kwargs=options, autocommit=True) as connection, connection.cursor() as cursor:
        cursor.execute("SELECT 42")
        return cursor.fetchall()


def pyarrow():
    trust = {} if PEM is None else {"tls_root_certs": PEM}
    with Connection(URL, USER, PASSWORD, **trust) as connection:
        return connection.rows("SELECT 42")


def outcome(work):
    try:
        return "ok" if work() == [(42,)] else "other rows"
    except Exception as error:
        return f"{type(error).__name__}: {error}"


print(json.dumps({"ADBC (Go)": outcome(adbc), "pyarrow (C++)": outcome(pyarrow)}))
