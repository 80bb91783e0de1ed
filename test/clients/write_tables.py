"""Writes the tables of `iceberg-tables.test.ts` into the namespace `clients` of a running catalog.
usage: write_tables.py <catalog url> <token>; prints {"snapshots": {...}} as JSON."""

import json
import sys
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog import load_catalog
from pyiceberg.schema import Schema
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.transforms import BucketTransform, DayTransform, IdentityTransform, TruncateTransform
from pyiceberg.types import (
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    ListType,
    LongType,
    NestedField,
    StringType,
    StructType,
    TimestampType,
)

import iceberg_by_hand as by_hand
from iceberg_by_hand import Rest, append_snapshot, data_file, field, write_parquet

URL, TOKEN = sys.argv[1], sys.argv[2]
NS = "clients"
catalog = load_catalog("lake", type="rest", uri=URL, warehouse="lake", token=TOKEN)
rest = Rest(URL, TOKEN)
snapshots = {}

ID_NAME = Schema(NestedField(1, "id", LongType()), NestedField(2, "name", StringType()))
ID_NAME_JSON = {
    "type": "struct",
    "schema-id": 0,
    "fields": [{"id": 1, "name": "id", "required": False, "type": "long"}, {"id": 2, "name": "name", "required": False, "type": "string"}],
}
ARROW_ID_NAME = pa.schema([field("id", 1, pa.int64()), field("name", 2, pa.string())])


def rows(*pairs):
    return pa.table([pa.array([i for i, _ in pairs], pa.int64()), pa.array([n for _, n in pairs], pa.string())], schema=ARROW_ID_NAME)


def v1():
    table = catalog.create_table(f"{NS}.v1", ID_NAME, properties={"format-version": "1"})
    table.append(rows((1, "a"), (2, "b")))
    table.append(rows((3, None)))


def append_delete():
    table = catalog.create_table(f"{NS}.append_delete", ID_NAME)
    table.append(rows(*[(i, f"n{i}") for i in range(1, 11)]))
    snapshots["before_delete"] = str(table.current_snapshot().snapshot_id)
    table.delete("id >= 3 and id < 9")
    table.append(rows((3, "again")))


def position_deletes():
    metadata = rest.create(NS, "position_deletes", ID_NAME_JSON)
    one = write_parquet(metadata, rows((1, "a"), (2, "b"), (3, "c"), (4, "d")))
    two = write_parquet(metadata, rows((5, "e"), (6, "f"), (7, "g")))
    append_snapshot(rest, NS, "position_deletes", [data_file(one), data_file(two)])
    first = by_hand.position_deletes(metadata, [(one["file_path"], 1), (two["file_path"], 0)])
    append_snapshot(rest, NS, "position_deletes", [first])
    second = by_hand.position_deletes(metadata, [(one["file_path"], 3), (one["file_path"], 1)])
    append_snapshot(rest, NS, "position_deletes", [second, data_file(write_parquet(metadata, rows((8, "h"))))])


def equality_deletes():
    metadata = rest.create(NS, "equality_deletes", ID_NAME_JSON)
    append_snapshot(
        rest, NS, "equality_deletes", [data_file(write_parquet(metadata, rows((1, "a"), (2, "b"), (3, None), (4, "d"), (5, "e"))))]
    )
    by_id = pa.table([pa.array([2], pa.int64())], schema=pa.schema([field("id", 1, pa.int64())]))
    by_name = pa.table([pa.array([None], pa.string())], schema=pa.schema([field("name", 2, pa.string())]))
    by_both = rows((4, "d"), (5, "other"))
    append_snapshot(
        rest,
        NS,
        "equality_deletes",
        [
            by_hand.equality_deletes(metadata, by_id, [1]),
            by_hand.equality_deletes(metadata, by_name, [2]),
            by_hand.equality_deletes(metadata, by_both, [1, 2]),
            # Data of the same snapshot is not deleted by it.
            data_file(write_parquet(metadata, rows((2, "new"), (6, None)))),
        ],
    )


def deletion_vectors():
    metadata = rest.create(NS, "deletion_vectors", ID_NAME_JSON, properties={"format-version": "3"})
    one = write_parquet(metadata, rows(*[(i, f"n{i}") for i in range(200_000)]))
    append_snapshot(rest, NS, "deletion_vectors", [data_file(one)])
    gone = [i for i in range(200_000) if i % 2 == 1] + [0, 100_000, 199_998]
    append_snapshot(rest, NS, "deletion_vectors", [by_hand.deletion_vector(metadata, one["file_path"], gone)])


def defaults():
    metadata = rest.create(NS, "defaults", ID_NAME_JSON, properties={"format-version": "3"})
    append_snapshot(rest, NS, "defaults", [data_file(write_parquet(metadata, rows((1, "a"), (2, "b"))))])
    fields = ID_NAME_JSON["fields"] + [
        {"id": 3, "name": "country", "required": False, "type": "string", "initial-default": "CH", "write-default": "CH"},
        {"id": 4, "name": "amount", "required": False, "type": "decimal(9, 2)", "initial-default": "1.50"},
        {"id": 5, "name": "day", "required": False, "type": "date", "initial-default": "2024-02-29"},
    ]
    rest.commit(
        NS,
        "defaults",
        [
            {"action": "add-schema", "schema": {"type": "struct", "schema-id": 1, "fields": fields}, "last-column-id": 5},
            {"action": "set-current-schema", "schema-id": -1},
        ],
    )
    with_country = pa.table(
        [pa.array([3], pa.int64()), pa.array(["c"]), pa.array([None], pa.string())],
        schema=pa.schema([*ARROW_ID_NAME, field("country", 3, pa.string())]),
    )
    append_snapshot(rest, NS, "defaults", [data_file(write_parquet(metadata, with_country))])


def evolution():
    schema = Schema(
        NestedField(1, "id", IntegerType()),
        NestedField(2, "old_name", StringType()),
        NestedField(3, "gone", StringType()),
        NestedField(4, "ratio", FloatType()),
        NestedField(5, "price", DecimalType(5, 2)),
        NestedField(6, "point", StructType(NestedField(7, "x", IntegerType()), NestedField(8, "y", IntegerType()))),
        NestedField(
            9, "lines", ListType(10, StructType(NestedField(11, "sku", StringType()), NestedField(12, "qty", IntegerType())))
        ),
    )
    table = catalog.create_table(f"{NS}.evolution", schema)
    old = {"id": 1, "old_name": "a", "gone": "g", "ratio": 0.5, "price": Decimal("1.50"), "point": {"x": 1, "y": 2}}
    table.append(pa.Table.from_pylist([{**old, "lines": [{"sku": "s", "qty": 3}]}], schema=table.schema().as_arrow()))
    with table.update_schema() as update:
        update.add_column("added", StringType())
        update.rename_column("old_name", "name")
        update.delete_column("gone")
        update.update_column("id", LongType())
        update.update_column("ratio", DoubleType())
        update.update_column("price", DecimalType(9, 2))
        update.rename_column("point.x", "px")
        update.add_column(("point", "z"), IntegerType())
        update.move_first("point.y")
        update.add_column(("lines", "note"), StringType())
        update.rename_column("lines.element.sku", "code")
    with table.update_schema() as update:
        update.move_first("name")
    # The dropped name comes back as another column, which must not see the old values.
    with table.update_schema() as update:
        update.add_column("gone", LongType())
    new = {"name": "b", "id": 5_000_000_000, "ratio": 0.1, "price": Decimal("1234567.89"), "added": "new", "gone": 7}
    nested = {"point": {"y": 4, "px": 3, "z": 5}, "lines": [{"code": "t", "qty": 1, "note": "n"}]}
    table.append(pa.Table.from_pylist([{**new, **nested}], schema=table.schema().as_arrow()))


def partition_evolution():
    schema = Schema(
        NestedField(1, "id", LongType()), NestedField(2, "region", StringType()), NestedField(3, "ts", TimestampType())
    )
    spec = PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "region"))
    table = catalog.create_table(f"{NS}.partition_evolution", schema, partition_spec=spec)

    def add(*triples):
        data = [{"id": i, "region": r, "ts": None if t is None else __import__("datetime").datetime.fromisoformat(t)} for i, r, t in triples]
        table.append(pa.Table.from_pylist(data, schema=table.schema().as_arrow()))

    add((1, "eu", "2024-01-01T10:00:00"), (2, "us", "2024-01-02T10:00:00"), (3, None, None))
    with table.update_spec() as update:
        update.remove_field("region")
        update.add_field("ts", DayTransform(), "ts_day")
    add((4, "eu", "2024-01-01T23:59:59"), (5, "us", "2024-01-02T00:00:00"), (6, "eu", None))
    with table.update_spec() as update:
        update.add_field("id", BucketTransform(4), "id_bucket")
        update.add_field("region", TruncateTransform(1), "region_1")
    add((7, "eu", "2024-01-01T00:00:00"), (8, "asia", "1969-12-31T23:00:00"))


def name_mapping():
    table = catalog.create_table(f"{NS}.name_mapping", ID_NAME)
    plain = pa.table({"name": ["a", "b"], "id": pa.array([1, 2], pa.int64())})
    location = f"{table.location()}/data/without-ids.parquet"
    path = by_hand.local_path(location)
    __import__("os").makedirs(path.rsplit("/", 1)[0], exist_ok=True)
    pq.write_table(plain.select(["id", "name"]), path)
    table.add_files([location])
    with table.update_schema() as update:
        update.rename_column("name", "label")
        update.add_column("extra", LongType())
    table.append(pa.Table.from_pylist([{"id": 3, "label": "c", "extra": 9}], schema=table.schema().as_arrow()))


def partition_constant():
    spec = {"spec-id": 0, "fields": [{"source-id": 2, "field-id": 1000, "name": "name", "transform": "identity"}]}
    metadata = rest.create(NS, "partition_constant", ID_NAME_JSON, spec=spec)
    only_id = lambda *ids: pa.table([pa.array(ids, pa.int64())], schema=pa.schema([field("id", 1, pa.int64())]))
    files = [data_file(write_parquet(metadata, only_id(1, 2)), {"name": "x"}), data_file(write_parquet(metadata, only_id(3)), {"name": None})]
    append_snapshot(rest, NS, "partition_constant", files, [by_hand.optional("name", "string", 1000)])


def time_travel():
    table = catalog.create_table(f"{NS}.time_travel", ID_NAME)
    table.append(rows((1, "a")))
    snapshots["first"] = str(table.current_snapshot().snapshot_id)
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "begun").commit()
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "side").commit()
    table.append(rows((2, "b")))
    snapshots["second"] = str(table.current_snapshot().snapshot_id)
    with table.update_schema() as update:
        update.rename_column("name", "label")
    table.overwrite(pa.Table.from_pylist([{"id": 9, "label": "z"}], schema=table.schema().as_arrow()))


catalog.create_namespace_if_not_exists(NS)
failed = {}
TABLES = (v1, append_delete, position_deletes, equality_deletes, deletion_vectors, defaults, evolution, partition_evolution)
for write in (*TABLES, name_mapping, partition_constant, time_travel):
    try:
        write()
    except Exception as error:  # every table is tried; the test of a table that could not be written fails with this
        failed[write.__name__] = f"{type(error).__name__}: {error}"


def inspected(name):
    """The metadata tables of a table as PyIceberg gives them, of the columns that both have, every value as text."""
    inspect = catalog.load_table(f"{NS}.{name}").inspect
    columns = {
        "snapshots": ["snapshot_id", "parent_id", "operation", "manifest_list"],
        "history": ["snapshot_id", "parent_id", "is_current_ancestor"],
        "refs": ["name", "type", "snapshot_id", "max_reference_age_in_ms"],
        "manifests": ["path", "length", "partition_spec_id", "added_snapshot_id", "added_data_files_count", "existing_data_files_count", "deleted_data_files_count"],
        "files": ["content", "file_path", "record_count", "file_format", "file_size_in_bytes", "spec_id"],
        "partitions": ["record_count", "file_count"],
        "entries": ["status", "snapshot_id", "sequence_number", "file_sequence_number"],
    }
    print_value = lambda value: None if value is None else str(value).lower() if isinstance(value, bool) else str(value)
    rows = lambda table, names: sorted([[print_value(row[one]) for one in names] for row in table.to_pylist()], key=str)
    return {what: {"columns": names, "rows": rows(getattr(inspect, what)(), names)} for what, names in columns.items()}


print(json.dumps({"snapshots": snapshots, "failed": failed, "inspected": {name: inspected(name) for name in ("time_travel", "partition_evolution", "append_delete")}}))
