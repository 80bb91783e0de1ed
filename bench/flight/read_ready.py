"""Reads batches that lie ready: the statement has had time to end, or its rows wait on disk, before the first is asked for.
usage: read_ready.py <url> <user> <password> <sql> <seconds of waiting> <times>; prints {"ms": [...], "rows": n, "bytes": n} as JSON"""

import json
import pathlib
import sys
import time

sys.path.append(str(pathlib.Path(__file__).parents[2] / "test" / "clients"))
from flight_sql_messages import Connection

url, user, password, sql, seconds, times = sys.argv[1:]
ms = []
with Connection(url, user, password) as connection:
    for _ in range(int(times)):
        table = None
        info = connection.info("CommandStatementQuery", (1, sql))
        time.sleep(float(seconds))
        started = time.perf_counter()
        table = connection.reader(info).read_all()
        ms.append((time.perf_counter() - started) * 1000)
print(json.dumps({"ms": ms, "rows": table.num_rows, "bytes": table.nbytes}))
