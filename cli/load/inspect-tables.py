"""Prints, as JSON, what PyIceberg sees of tables: python inspect-tables.py <catalog url> <token> <warehouse> <table>...

For every table: its rows (counted by reading them), each file's readable metrics, and whether PyIceberg's own transforms of every row
give the partition that the file is listed under. Manifest lists and manifests are read by fastavro too.
"""

import json
import sys

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog.rest import RestCatalog


def partition_mismatches(table):
    schema, wrong = table.schema(), []
    for task in table.scan().plan_files():
        spec = table.specs()[task.file.spec_id]
        if not spec.fields:
            continue
        file = pq.read_table(task.file.file_path.removeprefix("file://"))
        for index, field in enumerate(spec.fields):
            source = schema.find_field(field.source_id)
            transform = field.transform.transform(source.field_type)
            listed = task.file.partition[index]
            for value in internal_values(source.field_type, file.column(source.name)):
                if transform(value) != listed:
                    wrong.append([field.name, str(value), str(transform(value)), str(listed)])
    return wrong


def internal_values(field_type, column):
    """PyIceberg's transforms take dates and timestamps as numbers."""
    if str(field_type).startswith("timestamp_ns"):
        return column.cast(pa.int64()).to_pylist()
    return [to_internal(value) for value in column.to_pylist()]


def to_internal(value):
    from pyiceberg.utils.datetime import date_to_days, datetime_to_micros, time_to_micros
    import datetime

    if isinstance(value, datetime.datetime):
        return datetime_to_micros(value)
    if isinstance(value, datetime.date):
        return date_to_days(value)
    if isinstance(value, datetime.time):
        return time_to_micros(value)
    return value


def describe(table):
    # PyIceberg 0.12 cannot inspect the files of a table that has a uuid column ("ArrowNotImplementedError: extension"),
    # nanoseconds (without pandas), or no file.
    is_odd = any(str(field.field_type) in ("uuid", "timestamp_ns") for field in table.schema().fields)
    is_empty = table.current_snapshot().summary["total-data-files"] == "0"
    files = [] if is_odd or is_empty else [
        {
            "path": file["file_path"],
            "rows": file["record_count"],
            "bytes": file["file_size_in_bytes"],
            "split_offsets": len(file["split_offsets"]),
            "columns": {
                name: {key: None if value is None else str(value) for key, value in metrics.items()}
                for name, metrics in file["readable_metrics"].items()
            },
        }
        for file in table.inspect.files().to_pylist()
    ]
    return {
        "rows": table.scan().to_arrow().num_rows,
        "files": files,
        "mismatches": partition_mismatches(table)[:10],
        "manifests": [
            {key: entry.get(key) for key in ("added_rows_count", "sequence_number", "first_row_id")}
            | {"entries": [row["data_file"]["record_count"] for row in avro_rows(entry["manifest_path"])]}
            for entry in avro_rows(table.current_snapshot().manifest_list)
        ],
        "snapshots": [str(s.snapshot_id) for s in table.metadata.snapshots],
    }


def avro_rows(path):
    with open(path.removeprefix("file://"), "rb") as file:
        return list(fastavro.reader(file))


url, token, warehouse, *names = sys.argv[1:]
catalog = RestCatalog("skein", uri=url, token=token, warehouse=warehouse)
print(json.dumps({name: describe(catalog.load_table(name)) for name in names}))
