"""The rows of Parquet files, which are in memory when the clock starts, go into a table that is there, by ADBC's ingest.
usage: ingest_rows.py <url> <user> <password> <catalog> <schema> <table> <folder>; prints {"ms": [...], "rows": n, "bytes": n} as JSON"""

import json
import sys
import time

import adbc_driver_flightsql.dbapi as dbapi
import pyarrow.parquet

url, user, password, catalog, schema, name, folder = sys.argv[1:]
rows = pyarrow.parquet.read_table(folder)
with dbapi.connect(url, db_kwargs={"username": user, "password": password}, autocommit=True) as connection:
    with connection.cursor() as cursor:
        cursor.execute("SELECT 1")
        cursor.fetchall()
        started = time.perf_counter()
        cursor.adbc_ingest(name, rows, mode="append", catalog_name=catalog, db_schema_name=schema)
        ms = (time.perf_counter() - started) * 1000
print(json.dumps({"ms": [ms], "rows": rows.num_rows, "bytes": rows.nbytes}))
