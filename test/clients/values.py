"""Reads a table, and appends its rows to another one if there is one, for `values.test.ts`.
usage: values.py <catalog url> <token> <table> [<other table>]

Prints the rows as JSON, each value as a text that says all of its bits; null for NULL.
"""

import datetime
import json
import struct
import sys

from pyiceberg.catalog import load_catalog


def text(value):
    if value is None or isinstance(value, (bool, int)):
        return value if value is None else str(value).lower()
    if isinstance(value, float):
        return struct.pack(">d", value).hex()
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, datetime.datetime):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, datetime.time):
        return value.isoformat(timespec="microseconds")
    if isinstance(value, list):
        return [text(one) for one in value]
    if isinstance(value, tuple):
        return [text(one) for one in value]
    if isinstance(value, dict):
        return {name: text(one) for name, one in value.items()}
    return str(value)


url, token, name, *others = sys.argv[1:]
catalog = load_catalog("lake", type="rest", uri=url, warehouse="lake", token=token)
rows = catalog.load_table(name).scan().to_arrow().sort_by("id")
print(json.dumps([[text(value) for value in row.values()] for row in rows.to_pylist()]))
for other in others:
    catalog.load_table(other).append(rows)
