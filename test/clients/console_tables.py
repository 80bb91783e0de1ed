"""Tables for the console, and PyIceberg's own answer about every table of a namespace.
usage: console_tables.py <catalog url> <token> <namespace> [make]; prints {table: {...}} as JSON."""

import json
import sys
from decimal import Decimal

import pyarrow as pa
from pyiceberg.catalog import load_catalog
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import IdentityTransform
from pyiceberg.types import (
    DateType,
    DecimalType,
    DoubleType,
    IntegerType,
    ListType,
    LongType,
    MapType,
    NestedField,
    StringType,
    StructType,
    TimestamptzType,
)

import iceberg_by_hand as by_hand
from iceberg_by_hand import Rest, append_snapshot, data_file, field, write_parquet

URL, TOKEN, NS = sys.argv[1:4]
catalog = load_catalog("lake", type="rest", uri=URL, warehouse="lake", token=TOKEN)

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True, doc="<b>key</b>"),
    NestedField(2, "region", StringType()),
    NestedField(3, "gone", StringType()),
    NestedField(4, "price", DecimalType(9, 2)),
    NestedField(5, "at", TimestamptzType()),
    NestedField(6, "point", StructType(NestedField(7, "x", IntegerType()), NestedField(8, "y", DoubleType()))),
    NestedField(9, "lines", ListType(10, StructType(NestedField(11, "sku", StringType())), element_required=False)),
    NestedField(12, "labels", MapType(13, StringType(), 14, DateType(), value_required=False)),
)


def by_pyiceberg(name, version):
    """Two partitions, a dropped and a renamed column, a delete, a tag, and a branch with a snapshot of its own."""
    table = catalog.create_table(
        f"{NS}.{name}",
        SCHEMA,
        partition_spec=PartitionSpec(PartitionField(2, 1000, IdentityTransform(), "region")),
        properties={"format-version": str(version)},
    )

    def rows(ids, **more):
        return pa.Table.from_pylist(
            [{"id": i, "region": None if i % 3 == 0 else f"r{i % 3}", "price": Decimal(i), **more} for i in ids],
            schema=table.schema().as_arrow(),
        )

    table.append(rows(range(1, 7), gone="g"))
    table.manage_snapshots().create_tag(table.current_snapshot().snapshot_id, "begun").commit()
    table.manage_snapshots().create_branch(table.current_snapshot().snapshot_id, "side work").commit()
    with table.update_schema() as update:
        update.delete_column("gone")
        update.rename_column("point.x", "px")
        update.add_column("added", StringType(), doc="later")
    table.delete("id = 2")
    table.append(rows([7, 8], added="new"))
    table.append(rows([9]), branch="side work")


def third_format():
    """By hand after the specification, because PyIceberg writes no table of format 3."""
    schema = {
        "type": "struct",
        "schema-id": 0,
        "fields": [
            {"id": 1, "name": "id", "required": False, "type": "long"},
            {"id": 2, "name": "name", "required": False, "type": "string", "initial-default": "none", "write-default": "none"},
        ],
    }
    metadata = Rest(URL, TOKEN).create(NS, "format_3", schema, properties={"format-version": "3"})
    rest = Rest(URL, TOKEN)
    table = pa.table([pa.array(range(10), pa.int64())], schema=pa.schema([field("id", 1, pa.int64())]))
    one = write_parquet(metadata, table)
    append_snapshot(rest, NS, "format_3", [data_file(one)])
    append_snapshot(rest, NS, "format_3", [by_hand.deletion_vector(metadata, one["file_path"], [1, 3])])


SQL = {"long": "BIGINT", "int": "INT", "string": "VARCHAR", "double": "DOUBLE", "date": "DATE", "timestamptz": "TIMESTAMP WITH TIME ZONE"}


def sql_type(kind):
    if isinstance(kind, ListType):
        return f"ARRAY<{sql_type(kind.element_type)}>"
    if isinstance(kind, MapType):
        return f"MAP<{sql_type(kind.key_type)}, {sql_type(kind.value_type)}>"
    if isinstance(kind, StructType):
        return f"STRUCT<{', '.join(f'{one.name}: {sql_type(one.field_type)}' for one in kind.fields)}>"
    if isinstance(kind, DecimalType):
        return f"DECIMAL({kind.precision}, {kind.scale})"
    return SQL[str(kind)]


def parts(one):
    """A column and its parts, each before those within it."""
    kind = one.field_type
    inner = {ListType: ["element_field"], MapType: ["key_field", "value_field"]}.get(type(kind))
    within = kind.fields if isinstance(kind, StructType) else [getattr(kind, name) for name in inner or []]
    return [one, *(part for each in within for part in parts(each))]


def told(name):
    table = catalog.load_table((*NS.split("."), name))
    count = lambda summary, key: None if summary is None or summary[key] is None else int(summary[key])
    data = table.inspect.data_files()
    return {
        "format": table.format_version,
        "columns": [
            [one.name, sql_type(one.field_type), "no" if one.required else "yes", one.doc or "", str(one.field_id)]
            for column in table.schema().fields
            for one in parts(column)
        ],
        "snapshots": {
            str(one.snapshot_id): {
                "operation": one.summary.operation.value,
                "added": count(one.summary, "added-records"),
                "deleted": count(one.summary, "deleted-records"),
                "names": sorted(f"{ref.snapshot_ref_type.value} {key}" for key, ref in table.metadata.refs.items() if ref.snapshot_id == one.snapshot_id),
                "current": one.snapshot_id == table.metadata.current_snapshot_id,
            }
            for one in table.metadata.snapshots
        },
        "files": len(data),
        "files_by_summary": count(table.current_snapshot().summary, "total-data-files"),
        "records": sum(data["record_count"].to_pylist()),
        "partitions": [
            [*(row["partition"] or {}).values(), row["file_count"], row["record_count"]]
            for row in (table.inspect.partitions().to_pylist() if table.spec().fields else [])
            if row["file_count"] > 0
        ],
        "ids": sorted(table.scan(selected_fields=("id",)).to_arrow()["id"].to_pylist()),
    }


if "make" in sys.argv:
    catalog.create_namespace_if_not_exists(NS)
    by_pyiceberg("format_1", 1)
    by_pyiceberg("format_2", 2)
    third_format()
print(json.dumps({identifier[-1]: told(identifier[-1]) for identifier in catalog.list_tables(NS)}))
