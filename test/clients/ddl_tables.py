"""Prints, as JSON, what PyIceberg reads of tables that have no rows: python ddl_tables.py <catalog url> <token> <table>..."""

import json
import sys

from pyiceberg.catalog.rest import RestCatalog


def describe(table):
    schema = table.schema()
    return {
        "version": table.format_version,
        "fields": [
            [field.field_id, field.name, str(field.field_type), field.required, field.doc, plain(field.write_default)]
            for field in schema.fields
        ],
        "identifiers": sorted(schema.identifier_field_names()),
        "partitions": [
            [field.name, str(field.transform), schema.find_column_name(field.source_id)] for field in table.spec().fields
        ],
        "order": [
            [str(field.transform), schema.find_column_name(field.source_id), field.direction.value, field.null_order.value]
            for field in table.sort_order().fields
        ],
        "properties": dict(table.properties),
        "rows": table.scan().to_arrow().num_rows,
        "entries": entries(table),
    }


def entries(table):
    """Status, rows and partition of every manifest entry of the current snapshot, those of deleted files included."""
    snapshot = table.current_snapshot()
    if snapshot is None:
        return []
    return sorted(
        [entry.status.name, entry.data_file.record_count, str(entry.data_file.partition)]
        for manifest in snapshot.manifests(table.io)
        for entry in manifest.fetch_manifest_entry(table.io, discard_deleted=False)
    )


def plain(value):
    return value if value is None or isinstance(value, (bool, int, float, str)) else str(value)


url, token, *names = sys.argv[1:]
catalog = RestCatalog("skein", uri=url, token=token, warehouse="lake")
print(json.dumps({name: describe(catalog.load_table(name)) for name in names}))
