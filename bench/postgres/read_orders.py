"""Reads a query's rows by psycopg in binary: prints the time of each take in ms, and the rows of one.

    read_orders.py URL TAKES QUERY
"""

import json
import sys
import time

import psycopg

URL, TAKES, QUERY = sys.argv[1], int(sys.argv[2]), sys.argv[3]
ms, rows = [], 0
with psycopg.connect(URL, autocommit=True) as connection:
    for take in range(TAKES + 1):
        started = time.perf_counter()
        cursor = connection.cursor(binary=True)
        # libpq takes the rows in; their values stay bytes, as those of COPY.
        rows = cursor.execute(QUERY).pgresult.ntuples
        if take > 0:
            ms.append((time.perf_counter() - started) * 1000)
print(json.dumps({"ms": ms, "rows": rows}))
