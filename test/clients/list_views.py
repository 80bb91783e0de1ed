"""The tables and views of a schema, as PyIceberg lists them.
usage: list_views.py <catalog url> <token> <schema>; prints {"tables": [...], "views": [...]} as JSON"""

import json
import sys

from pyiceberg.catalog import load_catalog

url, token, schema = sys.argv[1:]
catalog = load_catalog("lake", type="rest", uri=url, warehouse="lake", token=token)
answer = {"tables": catalog.list_tables(schema), "views": catalog.list_views(schema)}
print(json.dumps({kind: sorted(name[-1] for name in names) for kind, names in answer.items()}))
