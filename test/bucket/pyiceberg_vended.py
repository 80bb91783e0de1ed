"""Writes and reads a table in a bucket by the credentials that its catalog gives. Arguments: catalog URL, token, catalog,
properties of the client as JSON, the schema to make."""

import json
import os
import sys

own = json.loads(sys.argv[4]) if len(sys.argv) > 4 else {}
if "ca" in own:
    # Before the libraries are there that trust it.
    os.environ["SSL_CERT_FILE"] = own.pop("ca")
# A folder with another release of PyIceberg.
packages = own.pop("packages", None)
if packages is not None:
    sys.path.insert(0, packages)

import pyarrow as pa
import pyiceberg
from pyiceberg.catalog import load_catalog
from pyiceberg.expressions import EqualTo

url, token, name = sys.argv[1:4]
schema = sys.argv[5] if len(sys.argv) > 5 else "py"
catalog = load_catalog("skein", type="rest", uri=url, token=token, warehouse=name, **own)
seen = {}


def rows():
    table = catalog.load_table(f"{schema}.t")
    return sorted(table.scan().to_arrow().to_pydict()["a"])


catalog.create_namespace(schema)
table = catalog.create_table(f"{schema}.t", schema=pa.schema([("a", pa.int64())]))
table.append(pa.table({"a": [1, 2, 3]}))
seen["rows"] = rows()
table.delete(EqualTo("a", 2))
seen["kept"] = rows()
catalog.load_table(f"{schema}.t").append(pa.table({"a": [4]}))
seen["appended"] = rows()
if packages is not None:
    seen["version"] = pyiceberg.__version__
seen["io"] = type(table.io).__name__
print(json.dumps(seen))
