"""Some columns of tables, as PyIceberg reads them, in the order of the first one.
usage: read_rows.py <catalog url> <token> <columns, with commas> <namespace.table> ...; prints {table: rows} as JSON, other values than numbers as text"""

import json
import sys

from pyiceberg.catalog import load_catalog

url, token, columns, *names = sys.argv[1:]
catalog = load_catalog("lake", type="rest", uri=url, warehouse="lake", token=token)
fields = tuple(columns.split(","))
answer = {}
for name in names:
    rows = catalog.load_table(name).scan(selected_fields=fields).to_arrow().sort_by(fields[0]).to_pylist()
    answer[name] = [[row[field] for field in fields] for row in rows]
print(json.dumps(answer, default=str))
