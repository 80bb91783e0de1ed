"""The ids of some tables of the namespace `clients`, as PyIceberg reads them, and the number of their delete files.
usage: read_ids.py <catalog url> <token> <table> ...; prints {table: {ids, deletes}} as JSON, of at most 1000 ids."""

import json
import sys

from pyiceberg.catalog import load_catalog

catalog = load_catalog("lake", type="rest", uri=sys.argv[1], warehouse="lake", token=sys.argv[2])
result = {}
for name in sys.argv[3:]:
    table = catalog.load_table(("clients", name))
    ids = sorted(table.scan(selected_fields=("id",)).to_arrow()["id"].to_pylist())
    deletes = [file for file in table.inspect.files().to_pylist() if file["content"] != 0]
    result[name] = {"ids": ids[:1000], "deletes": len(deletes)}
print(json.dumps(result))
