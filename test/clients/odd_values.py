"""Writes tables with values that statistics do not tell of, for `odd-values.test.ts`. usage: odd_values.py <catalog url> <token>"""

import sys

import pyarrow as pa
from pyiceberg.catalog import load_catalog

URL, TOKEN = sys.argv[1:3]
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
    for name in ("read", "changed", "merged"):
        made = catalog.create_table(f"{NS}.{name}", table.schema)
        made.append(table)
        made.append(table.slice(0, 1))


numbers()
