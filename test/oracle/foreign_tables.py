"""Writes tables as PyIceberg's users do, whose manifests and files tell nothing of NaN. usage: foreign_tables.py <catalog url> <token> <tables>

The tables are a JSON object: the Parquet files of each.
"""

import json
import sys

import pyarrow.parquet as pq
from pyiceberg.catalog import load_catalog

URL, TOKEN, TABLES = sys.argv[1:4]
NS = "oracle"
# A file of several row groups is read by several tasks.
PROPERTIES = {"write.parquet.row-group-limit": "300"}
catalog = load_catalog("lake", type="rest", uri=URL, warehouse="lake", token=TOKEN)
catalog.create_namespace_if_not_exists(NS)
for name, files in json.loads(TABLES).items():
    tables = [pq.read_table(file) for file in files]
    made = catalog.create_table(f"{NS}.{name}", tables[0].schema, properties=PROPERTIES)
    for table in tables:
        made.append(table)
