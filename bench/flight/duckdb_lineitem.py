"""The peer: plain DuckDB makes an Arrow table of the same files, several times; the first does not count.
usage: duckdb_lineitem.py <threads> <times> <file> ...; prints {"ms": [...], "rows": n, "bytes": n} as JSON"""

import json
import sys
import time
import warnings

import duckdb

warnings.simplefilter("ignore", DeprecationWarning)
threads, times, *files = sys.argv[1:]
connection = duckdb.connect(config={"threads": int(threads)})
relation = "read_parquet([" + ", ".join(f"'{file}'" for file in files) + "])"
ms = []
for _ in range(1 + int(times)):
    table = None
    started = time.perf_counter()
    table = connection.execute(f"SELECT * FROM {relation}").fetch_arrow_table()
    ms.append((time.perf_counter() - started) * 1000)
print(json.dumps({"ms": ms[1:], "rows": table.num_rows, "bytes": table.nbytes}))
