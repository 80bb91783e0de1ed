"""Writes and reads a table in a bucket with requests that its catalog signs. Arguments: catalog URL, token, catalog."""

import json
import sys

import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.expressions import EqualTo

url, token, name = sys.argv[1:4]
delegation = {"header.X-Iceberg-Access-Delegation": "remote-signing"}
catalog = load_catalog("skein", type="rest", uri=url, token=token, warehouse=name, **delegation)
seen = {}


def rows():
    return sorted(catalog.load_table("pys.t").scan().to_arrow().to_pydict()["a"])


catalog.create_namespace("pys")
table = catalog.create_table("pys.t", schema=pa.schema([("a", pa.int64())]))
table.append(pa.table({"a": [1, 2, 3]}))
seen["rows"] = rows()
catalog.load_table("pys.t").append(pa.table({"a": [4]}))
seen["appended"] = rows()
catalog.load_table("pys.t").delete(EqualTo("a", 2))
seen["kept"] = rows()
seen["io"] = type(table.io).__name__
print(json.dumps(seen))
