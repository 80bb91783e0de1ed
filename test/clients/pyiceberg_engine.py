"""Works with tables as PyIceberg's users do, for `pyiceberg-engine.test.ts`. usage: pyiceberg_engine.py <catalog url> <query url> <token>

Prints one JSON object: `seen`, what PyIceberg said, and `checks`: the rows that PyIceberg and Skein read from a table at the same moment, all
values as text.
"""

import datetime as dt
import json
import sys
import time
import traceback
import uuid
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal

import pyarrow as pa
import requests
from pyiceberg.catalog import load_catalog
from pyiceberg.exceptions import CommitFailedException, NoSuchTableError, NoSuchViewError, TableAlreadyExistsError
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    TruncateTransform,
    YearTransform,
)
from pyiceberg.types import *  # noqa: F403 - every type is used
from pyiceberg.view.metadata import SQLViewRepresentation, ViewVersion

URL, QUERY_URL, TOKEN = sys.argv[1:4]
NS = "engine"
APPENDERS = 8
catalog = load_catalog("lake", type="rest", uri=URL, warehouse="lake", token=TOKEN)
catalog.create_namespace(NS)
seen = {}
checks = []


def text(value):
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def check(name, table, columns, where="TRUE", row_filter=None, snapshot_id=None):
    """Skein must read what PyIceberg's scan reads."""
    scan = table.scan(
        selected_fields=tuple(columns), snapshot_id=snapshot_id, **({} if row_filter is None else {"row_filter": row_filter})
    )
    rows = [[text(row[column]) for column in columns] for row in scan.to_arrow().to_pylist()]
    at = "" if snapshot_id is None else f" AT (VERSION => {snapshot_id})"
    selected = ", ".join(f'"{column}"::VARCHAR' for column in columns)
    source = ".".join(f'"{part}"' for part in ("lake", *table.name()))
    compare(name, rows, f"SELECT {selected} FROM {source}{at} WHERE {where}")


def compare(name, rows, sql):
    answer = requests.post(f"{QUERY_URL}/api/query", json={"sql": sql}, headers={"Authorization": f"Bearer {TOKEN}"}).json()
    checks.append({"name": name, "theirs": rows, "ours": answer["rows"] if "rows" in answer else f"{sql}: {answer}"})


def id_name(*pairs):
    return pa.table({"id": pa.array([i for i, _ in pairs], pa.int64()), "name": pa.array([n for _, n in pairs], pa.string())})


ID_NAME = Schema(
    NestedField(1, "id", LongType(), required=False),
    NestedField(2, "name", StringType(), required=False),
)


def every_type():
    schema = Schema(
        NestedField(1, "flag", BooleanType()),
        NestedField(2, "small", IntegerType()),
        NestedField(3, "big", LongType()),
        NestedField(4, "f", FloatType()),
        NestedField(5, "d", DoubleType()),
        NestedField(6, "price", DecimalType(38, 9)),
        NestedField(7, "day", DateType()),
        NestedField(8, "at", TimeType()),
        NestedField(9, "ts", TimestampType()),
        NestedField(10, "tz", TimestamptzType()),
        NestedField(11, "s", StringType()),
        NestedField(12, "u", UUIDType()),
        NestedField(13, "fix", FixedType(4)),
        NestedField(14, "bin", BinaryType()),
        NestedField(15, "l", ListType(16, IntegerType(), False)),
        NestedField(17, "m", MapType(18, StringType(), 19, LongType(), False)),
        NestedField(20, "st", StructType(NestedField(21, "x", LongType()), NestedField(22, "y", StringType()))),
    )
    table = catalog.create_table(f"{NS}.every_type", schema)
    row = {
        "flag": True,
        "small": -(2**31),
        "big": 2**63 - 1,
        "f": 1.5,
        "d": -2.25,
        "price": Decimal("12345678901234567890.123456789"),
        "day": dt.date(2024, 2, 29),
        "at": dt.time(1, 2, 3),
        "ts": dt.datetime(2024, 2, 29, 1, 2, 3, 123456),
        "tz": dt.datetime(2024, 2, 29, 1, 2, 3, tzinfo=dt.timezone.utc),
        "s": "ü\"'",
        "u": uuid.UUID(int=1).bytes,
        "fix": b"\x00\x01\x02\xff",
        "bin": b"\x00\xff",
        "l": [1, None, 3],
        "m": [("k", 2**40)],
        "st": {"x": 1, "y": None},
    }
    table.append(pa.Table.from_pylist([row, dict.fromkeys(row)], schema=table.schema().as_arrow()))
    check("every type: text", table, ["flag", "small", "big", "f", "d", "price", "day", "at", "ts", "s"])
    values = "hex(fix), hex(bin), l[1]::VARCHAR, len(l)::VARCHAR, (m['k'])::VARCHAR, (st.x)::VARCHAR, st.y, u::VARCHAR, epoch(tz)::BIGINT::VARCHAR"
    expected = ["000102FF", "00FF", "1", "3", str(2**40), "1", None, str(uuid.UUID(int=1)), "1709168523"]
    sql = f"SELECT {values} FROM lake.{NS}.every_type WHERE flag"
    compare("every type: bytes and nested", [expected], sql)


def partition_transforms():
    fields = {
        "identity": ("name", IdentityTransform()),
        "bucket": ("id", BucketTransform(4)),
        "truncate": ("name", TruncateTransform(1)),
        "year": ("ts", YearTransform()),
        "month": ("ts", MonthTransform()),
        "day": ("ts", DayTransform()),
        "hour": ("ts", HourTransform()),
    }
    schema = Schema(*ID_NAME.fields, NestedField(3, "ts", TimestampType()))
    rows = [
        {"id": i, "name": None if i % 7 == 0 else "abc"[i % 3] * 2, "ts": dt.datetime(2023, 12, 31, 22) + dt.timedelta(hours=i * 13)}
        for i in range(60)
    ]
    for name, (source, transform) in fields.items():
        spec = PartitionSpec(PartitionField(schema.find_field(source).field_id, 1000, transform, "p"))
        table = catalog.create_table(f"{NS}.part_{name}", schema, partition_spec=spec)
        table.append(pa.Table.from_pylist(rows, schema=schema.as_arrow()))
        table.delete("id == 3")
        check(f"partitioned by {name}", table, ["id", "name", "ts"])
        check(f"partitioned by {name}, by id", table, ["id"], "id >= 10 AND id < 20", "id >= 10 and id < 20")
        check(f"partitioned by {name}, by name", table, ["id"], "name = 'aa' OR name IS NULL", "name == 'aa' or name is null")
        when = "ts >= '2024-01-05T00:00:00' and ts < '2024-01-09T12:00:00'"
        check(f"partitioned by {name}, by time", table, ["id"], when.replace("T", " "), when)


def data_changes():
    table = catalog.create_table(f"{NS}.changes", ID_NAME)
    table.append(id_name(*[(i, f"n{i}") for i in range(10)]))
    table.overwrite(id_name((3, "over"), (100, "new")), overwrite_filter="id >= 3 and id < 5")
    check("overwrite of a part", table, ["id", "name"])
    table.delete("id == 0 or name == 'n9'")
    check("delete", table, ["id", "name"])
    result = table.upsert(id_name((1, "up"), (200, "in"), (2, "n2")), join_cols=["id"])
    seen["upsert"] = [result.rows_updated, result.rows_inserted]
    check("upsert", table, ["id", "name"])
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "name"))
    dynamic = catalog.create_table(f"{NS}.dynamic", ID_NAME, partition_spec=spec)
    dynamic.append(id_name((1, "a"), (2, "a"), (3, "b")))
    dynamic.dynamic_partition_overwrite(id_name((9, "a")))
    check("dynamic overwrite of partitions", dynamic, ["id", "name"])
    with table.transaction() as transaction:
        transaction.append(id_name((300, "t")))
        transaction.delete("id == 300 or id == 1")
        transaction.set_properties(k="v")
    check("a transaction of several changes", table.refresh(), ["id", "name"])
    seen["properties"] = table.properties.get("k")
    table.overwrite(id_name((7, "only")))
    check("overwrite of all", table, ["id", "name"])


def schema_evolution():
    table = catalog.create_table(f"{NS}.evolve", ID_NAME)
    table.append(id_name((1, "a")))
    with table.update_schema() as update:
        update.add_column("extra", IntegerType(), doc="more")
        update.add_column("st", StructType(NestedField(100, "x", IntegerType())))
        update.rename_column("name", "label")
        update.move_first("name")
    with table.update_schema() as update:
        update.update_column("extra", LongType())
        update.add_column(("st", "y"), StringType())
    more = [{"label": "b", "id": 2, "extra": 2**40, "st": {"x": 1, "y": "z"}}]
    table.append(pa.Table.from_pylist(more, schema=table.schema().as_arrow()))
    check("evolved schema", table, ["label", "id", "extra"])
    with table.update_schema() as update:
        update.union_by_name(pa.schema([("union", pa.string()), ("id", pa.int64())]))
        update.delete_column("extra")
    with table.update_spec() as update:
        update.add_field("id", BucketTransform(4), "b")
        update.add_identity("label")
    table.append(pa.Table.from_pylist([{"id": 3, "label": "c", "union": "u"}], schema=table.schema().as_arrow()))
    with table.update_spec() as update:
        update.rename_field("b", "bucketed")
        update.remove_field("label")
    table.append(pa.Table.from_pylist([{"id": 4, "label": "d"}], schema=table.schema().as_arrow()))
    with table.update_sort_order() as update:
        update.asc("id", IdentityTransform())
    check("evolved schema and partitions", table, ["label", "id", "union"])
    check("evolved partitions, pruned", table, ["id"], "label = 'c'", "label == 'c'")
    seen["evolved"] = [table.schema().column_names, [f.name for f in table.spec().fields], len(table.specs()), len(table.sort_order().fields)]


def branches_and_tags():
    table = catalog.create_table(f"{NS}.refs", ID_NAME)
    table.append(id_name((1, "a")))
    first = table.current_snapshot().snapshot_id
    table.manage_snapshots().create_tag(first, "kept").create_branch(first, "work").commit()
    table.append(id_name((2, "b")))
    table.append(id_name((9, "w")), branch="work")
    seen["branch"] = sorted(table.scan().use_ref("work").to_arrow()["id"].to_pylist())
    check("time travel", table, ["id", "name"], snapshot_id=first)
    seen["as of"] = table.snapshot_as_of_timestamp(int(time.time() * 1000)).snapshot_id == table.current_snapshot().snapshot_id
    table.manage_snapshots().rollback_to_snapshot(first).commit()
    check("rolled back", table, ["id", "name"])
    table.manage_snapshots().remove_tag("kept").remove_branch("work").commit()
    seen["refs"] = sorted(table.refs())
    table.append(id_name((3, "c")))
    table.maintenance.expire_snapshots().by_id(first).commit()
    seen["snapshots"] = first in [s.snapshot_id for s in table.refresh().snapshots()]
    check("expired", table, ["id", "name"])


def views():
    version = ViewVersion(
        **{
            "schema-id": 0,
            "representations": [SQLViewRepresentation(type="sql", sql=f"SELECT id FROM {NS}.changes", dialect="duckdb")],
            "default-namespace": [NS],
        }
    )
    schema = Schema(NestedField(1, "id", LongType(), required=False))
    view = catalog.create_view(f"{NS}.a_view", schema, version, properties={"p": "1"})
    loaded = catalog.load_view(f"{NS}.a_view")
    seen["view"] = [
        catalog.list_views(NS),
        catalog.view_exists(f"{NS}.a_view"),
        loaded.metadata.view_uuid == view.metadata.view_uuid,
        raised(TableAlreadyExistsError, lambda: catalog.create_table(f"{NS}.a_view", ID_NAME)),
    ]
    catalog.drop_view(f"{NS}.a_view")
    seen["view dropped"] = [catalog.view_exists(f"{NS}.a_view"), raised(NoSuchViewError, lambda: catalog.load_view(f"{NS}.a_view"))]


def raised(error, work):
    try:
        work()
    except error:
        return True
    return False


def lifecycle():
    table = catalog.create_table(f"{NS}.born", ID_NAME)
    table.append(id_name((1, "a")))
    renamed = catalog.rename_table(f"{NS}.born", f"{NS}.with space/ü")
    check("renamed", renamed, ["id", "name"])
    location = renamed.metadata_location
    catalog.drop_table(f"{NS}.with space/ü")
    again = catalog.register_table(f"{NS}.registered", location)
    check("registered", again, ["id", "name"])
    purged = catalog.create_table(f"{NS}.purged", ID_NAME)
    purged.append(id_name((1, "a")))
    catalog.purge_table(f"{NS}.purged")
    seen["purged"] = raised(NoSuchTableError, lambda: catalog.load_table(f"{NS}.purged"))
    seen["purged location"] = purged.location()
    with catalog.create_table_transaction(f"{NS}.staged", ID_NAME) as transaction:
        transaction.append(id_name((5, "s")))
    check("created and filled in one transaction", catalog.load_table(f"{NS}.staged"), ["id", "name"])
    versions = catalog.create_table(f"{NS}.v1", ID_NAME, properties={"format-version": "1"})
    versions.append(id_name((1, "a")))
    with versions.transaction() as transaction:
        transaction.upgrade_table_version(2)
    versions.append(id_name((2, "b")))
    seen["format version"] = versions.format_version
    check("format version 1, then 2", versions, ["id", "name"])


def appends_at_once():
    catalog.create_table(f"{NS}.appended", ID_NAME)

    def append(worker):
        for i in range(3):
            for _ in range(200):
                try:
                    catalog.load_table(f"{NS}.appended").append(id_name((worker * 10 + i, f"w{worker}")))
                    break
                except CommitFailedException:
                    time.sleep(0.02)
            else:
                raise RuntimeError("an append never succeeded")

    with ThreadPoolExecutor(APPENDERS) as pool:
        list(pool.map(append, range(APPENDERS)))
    table = catalog.load_table(f"{NS}.appended")
    seen["appended"] = [table.scan().count(), len(table.snapshots())]
    check(f"{APPENDERS} threads that append at once", table, ["id", "name"])


seen["failed"] = {}
for work in (
    every_type,
    partition_transforms,
    data_changes,
    schema_evolution,
    branches_and_tags,
    views,
    lifecycle,
    appends_at_once,
):
    try:
        work()
    except Exception:
        seen["failed"][work.__name__] = traceback.format_exc()
print(json.dumps({"seen": seen, "checks": checks}))
