"""All of TPC-H's lineitem over Flight SQL with pyarrow, several times on one connection; the first does not count.
usage: read_lineitem.py <url> <user> <password> <times>; prints {"ms": [...], "rows": n, "bytes": n} as JSON"""

import json
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).parents[2] / "test" / "clients"))
from flight_sql_messages import Connection

url, user, password, times = sys.argv[1:]
ms = []
with Connection(url, user, password) as connection:
    for _ in range(1 + int(times)):
        # Two tables at once would be memory that nobody needs.
        table = None
        started = time.perf_counter()
        table = connection.query("SELECT * FROM lake.tpch.lineitem")
        ms.append((time.perf_counter() - started) * 1000)
print(json.dumps({"ms": ms[1:], "rows": table.num_rows, "bytes": table.nbytes}))
