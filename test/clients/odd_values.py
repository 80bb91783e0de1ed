"""Writes tables with values that statistics do not tell of, for `odd-values.test.ts`. usage: odd_values.py <catalog url> <token> <folder>

Files for a stage are written into the folder."""

import os
import shutil
import sys
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog import load_catalog

import iceberg_by_hand as by_hand

URL, TOKEN, FOLDER = sys.argv[1:4]
NS = "odd_values"
NAN = float("nan")
catalog = load_catalog("lake", type="rest", uri=URL, warehouse="lake", token=TOKEN)
catalog.create_namespace(NS)


def numbers():
    """One file, and one more: NaN between other numbers, in columns of all kinds."""
    values = [1.0, NAN, 2.0, None]
    table = pa.table(
        {
            "id": pa.array([1, 2, 3, 4]),
            "d": pa.array(values),
            "f": pa.array(values, pa.float32()),
            "s": pa.array([None if v is None else {"x": v} for v in values], pa.struct([("x", pa.float64())])),
            "l": pa.array([None if v is None else [v] for v in values], pa.list_(pa.float64())),
            "m": pa.array([None if v is None else [("k", v)] for v in values], pa.map_(pa.string(), pa.float64())),
        }
    )
    pq.write_table(table, f"{FOLDER}/nan.parquet")
    for name in ("read", "changed", "merged"):
        made = catalog.create_table(f"{NS}.{name}", table.schema)
        made.append(table)
        made.append(table.slice(0, 1))


numbers()


def encodings():
    """A column of integers in an encoding that DuckDB does not read, beside one that it reads."""
    table = pa.table({"id": pa.array([1, 2, 3]), "n": pa.array([1, 2, 3], pa.int32())})
    made = catalog.create_table(f"{NS}.encodings", table.schema)
    location = f"{made.location()}/data/split.parquet"
    path = by_hand.local_path(location)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pq.write_table(table, path, use_dictionary=False, column_encoding={"id": "PLAIN", "n": "BYTE_STREAM_SPLIT"})
    made.add_files([location])
    shutil.copy(path, f"{FOLDER}/split.parquet")


def digits():
    """A DECIMAL of more digits than DuckDB has."""
    numbers = pa.array([Decimal("1.5"), Decimal("-2.25")], pa.decimal256(40, 2))
    pq.write_table(pa.table({"id": pa.array([1, 2]), "n": numbers}), f"{FOLDER}/digits.parquet")


digits()
encodings()
