"""Uses a catalog as PyIceberg's users do, and prints what it saw as one line of JSON. Arguments: catalog URL, token."""

import json
import sys
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import (
    CommitFailedException,
    NamespaceAlreadyExistsError,
    NamespaceNotEmptyError,
    NoSuchNamespaceError,
    NoSuchTableError,
    TableAlreadyExistsError,
)
from pyiceberg.types import StringType

url, token = sys.argv[1:3]
catalog = load_catalog("skein", type="rest", uri=url, token=token, warehouse="lake")
seen = {}


def rows(table):
    return sorted(table.scan().to_arrow().to_pydict()["a"])


def raised(error, work):
    try:
        work()
    except error:
        return True
    return False


catalog.create_namespace("py", {"k": "v"})
catalog.create_namespace(("py", "deep"))
catalog.update_namespace_properties("py", removals={"k"}, updates={"l": "w"})
properties = catalog.load_namespace_properties("py")
seen["namespaces"] = [catalog.list_namespaces("py"), {k: v for k, v in properties.items() if k != "location"}]

schema = pa.schema([("a", pa.int64()), ("b", pa.string())])
table = catalog.create_table("py.t", schema=schema)
table.append(pa.table({"a": [1, 2, 3], "b": ["x", "y", "z"]}))
with table.update_schema() as update:
    update.add_column("c", StringType())
with table.update_spec() as update:
    update.add_field("a", "bucket[4]", "a_bucket")
table.append(pa.table({"a": [4], "b": ["w"], "c": ["q"]}))
table.delete("a = 1")
table = catalog.load_table("py.t")
seen["evolved"] = [rows(table), table.schema().column_names, len(table.spec().fields), len(table.metadata.metadata_log)]
table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "kept").commit()
table.overwrite(pa.table({"a": [9], "b": ["w"], "c": ["q"]}))
tagged = table.refresh().scan(snapshot_id=table.refs()["kept"].snapshot_id).to_arrow().to_pydict()["a"]
seen["overwritten"] = [rows(table), sorted(tagged)]

with catalog.create_table_transaction("py.staged", schema=schema) as transaction:
    transaction.append(pa.table({"a": [7], "b": ["s"]}))
seen["staged"] = rows(catalog.load_table("py.staged"))

stale = catalog.load_table("py.staged")
catalog.load_table("py.staged").append(pa.table({"a": [8], "b": ["s"]}))
# Refused for its stale requirement, then rebuilt and sent again by PyIceberg.
stale.append(pa.table({"a": [0], "b": ["s"]}))
seen["stale append"] = rows(catalog.load_table("py.staged"))


def append(value):
    for _ in range(100):
        try:
            catalog.load_table("py.staged").append(pa.table({"a": [value], "b": ["s"]}))
            return
        except CommitFailedException:
            pass
    raise RuntimeError("an append never succeeded")


with ThreadPoolExecutor(4) as pool:
    list(pool.map(append, range(100, 108)))
seen["concurrent"] = rows(catalog.load_table("py.staged"))

catalog.rename_table("py.staged", "py.deep.renamed")
seen["tables"] = [catalog.list_tables("py"), catalog.list_tables(("py", "deep")), catalog.table_exists("py.staged")]
seen["errors"] = [
    raised(TableAlreadyExistsError, lambda: catalog.create_table("py.t", schema=schema)),
    raised(NamespaceAlreadyExistsError, lambda: catalog.create_namespace("py")),
    raised(NamespaceNotEmptyError, lambda: catalog.drop_namespace("py")),
    raised(NoSuchNamespaceError, lambda: catalog.list_tables("none")),
    raised(NoSuchTableError, lambda: catalog.load_table("py.none")),
]
location = table.metadata_location
catalog.drop_table("py.t")
seen["registered"] = rows(catalog.register_table("py.again", location))
for name in ("py.again", "py.deep.renamed"):
    catalog.drop_table(name)
catalog.drop_namespace(("py", "deep"))
catalog.drop_namespace("py")
seen["left"] = catalog.list_namespaces()
print(json.dumps(seen))
