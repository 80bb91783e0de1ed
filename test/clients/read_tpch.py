"""What PyIceberg sees of the tables that `skein load tpch` wrote.
usage: read_tpch.py <catalog url> <token>; prints {table: {rows, scanned, bounds: {column: [lower, upper, nulls]}}} as JSON."""

import json
import sys

from pyiceberg.catalog import load_catalog

catalog = load_catalog("lake", type="rest", uri=sys.argv[1], warehouse="lake", token=sys.argv[2])
result = {}
for identifier in catalog.list_tables("tpch"):
    table = catalog.load_table(identifier)
    bounds = {}
    rows = 0
    for file in table.inspect.files().to_pylist():
        rows += file["record_count"]
        for column, metrics in file["readable_metrics"].items():
            lower, upper, nulls = bounds.get(column, (None, None, 0))
            low, high = metrics["lower_bound"], metrics["upper_bound"]
            bounds[column] = (
                low if lower is None else min(lower, low),
                high if upper is None else max(upper, high),
                nulls + metrics["null_value_count"],
            )
    result[identifier[-1]] = {
        "rows": rows,
        "scanned": table.scan().to_arrow().num_rows,
        "bounds": {column: [str(low), str(high), nulls] for column, (low, high, nulls) in bounds.items()},
    }
print(json.dumps(result))
