"""Reads the statistics file of a table with the DataSketches library, and makes the same sketches of the values themselves.

usage: theta_sketches.py <statistics file> <blob metadata, JSON> <number of rows>
"""

import json
import sys
from datasketches import compact_theta_sketch, update_theta_sketch

path, blobs, rows = sys.argv[1], json.loads(sys.argv[2]), range(int(sys.argv[3]))
# As theta-sketches.test.ts inserts them, by field id.
columns = {1: [i * 7919 for i in rows], 2: [i % 7 - 3 for i in rows], 3: ["ä" * (i % 40) + str(i) for i in rows]}
with open(path, "rb") as file:
    content = file.read()
assert content[:4] == b"PFA1" and content[-4:] == b"PFA1"
footer_length = int.from_bytes(content[-12:-8], "little")
footer = json.loads(content[-12 - footer_length : -12])
assert content[-16 - footer_length : -12 - footer_length] == b"PFA1"
answer = []
for blob, listed in zip(footer["blobs"], blobs, strict=True):
    assert {key: blob[key] for key in listed} == listed, (blob, listed)
    sketch = compact_theta_sketch.deserialize(content[blob["offset"] : blob["offset"] + blob["length"]])
    # Every value's hash, of which the sketch has those below its theta.
    whole = update_theta_sketch(lg_k=20)
    for value in columns[blob["fields"][0]]:
        whole.update(value)
    assert whole.theta == 1.0
    wanted = sorted(entry for entry in whole if entry < sketch.theta64)
    answer.append(
        {
            "field": blob["fields"][0],
            "estimate": round(sketch.get_estimate()),
            "ndv": int(blob["properties"]["ndv"]),
            "retained": sketch.num_retained,
            "exact": not sketch.is_estimation_mode(),
            "same": sorted(sketch) == wanted,
        }
    )
print(json.dumps(answer))
