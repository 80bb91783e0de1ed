"""The ids of some tables of the namespace `clients` or another, as PyIceberg reads them, and the number of their delete files.
usage: read_ids.py <catalog url> <token> [--namespace <name>] <table> ...; prints {table: {ids, deletes}} as JSON, of at most 1000 ids."""

import json
import os
import sys

if "NODE_EXTRA_CA_CERTS" in os.environ:
    # The authority of a store over which suites run, before the libraries are there that trust it.
    os.environ["SSL_CERT_FILE"] = os.environ["NODE_EXTRA_CA_CERTS"]

from pyiceberg.catalog import load_catalog

catalog = load_catalog("lake", type="rest", uri=sys.argv[1], warehouse="lake", token=sys.argv[2])
result = {}
names = sys.argv[3:]
namespace = "clients"
if names[0] == "--namespace":
    namespace, names = names[1], names[2:]
for name in names:
    table = catalog.load_table((namespace, name))
    ids = sorted(table.scan(selected_fields=("id",)).to_arrow()["id"].to_pylist())
    deletes = [file for file in table.inspect.files().to_pylist() if file["content"] != 0]
    result[name] = {"ids": ids[:1000], "deletes": len(deletes)}
print(json.dumps(result))
