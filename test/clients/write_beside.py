"""Appends rows to a table one by one while others write it, for `write-beside.test.ts`.
usage: write_beside.py <catalog url> <token> <table> <first> <rows>

Prints one JSON object: the numbers of the rows that were appended, and how often another commit came first.
"""

import json
import sys

import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitFailedException

url, token, name, first, rows = sys.argv[1:6]
catalog = load_catalog("lake", type="rest", uri=url, warehouse="lake", token=token)
appended, lost = [], 0
for i in range(int(first), int(first) + int(rows)):
    while i not in appended:
        try:
            catalog.load_table(name).append(pa.table({"i": pa.array([i], pa.int64()), "t": ["py"]}))
            appended.append(i)
        except CommitFailedException:
            lost += 1
        if lost > 1000:
            sys.exit("an append never succeeded")
print(json.dumps({"appended": appended, "lost": lost, "rows": sorted(catalog.load_table(name).scan().to_arrow()["i"].to_pylist())}))
