"""Iceberg snapshots made byte by byte from the specification, for what PyIceberg does not write: position deletes, equality deletes,
deletion vectors, format 3, and data files that lack an identity-partitioned column. Only fastavro, pyarrow and the REST protocol."""

import json
import os
import random
import struct
import time
import urllib.request
import uuid
import zlib

import fastavro
import pyarrow as pa
import pyarrow.parquet as pq
from pyroaring import BitMap

DATA, POSITION_DELETES, EQUALITY_DELETES = 0, 1, 2


class Rest:
    """The REST catalog, spoken raw."""

    def __init__(self, url, token, prefix="lake"):
        self.base, self.token = f"{url}/v1/{prefix}", token

    def call(self, method, path, body=None):
        request = urllib.request.Request(self.base + path, method=method, data=None if body is None else json.dumps(body).encode())
        request.add_header("authorization", f"Bearer {self.token}")
        request.add_header("content-type", "application/json")
        try:
            with urllib.request.urlopen(request) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            raise RuntimeError(f"{method} {path}: {error.code} {error.read().decode()}") from error
        return json.loads(text) if text else None

    def create(self, namespace, name, schema, spec=None, properties=None):
        body = {"name": name, "schema": schema, "properties": properties or {}}
        if spec is not None:
            body["partition-spec"] = spec
        return self.call("POST", f"/namespaces/{namespace}/tables", body)["metadata"]

    def load(self, namespace, name):
        return self.call("GET", f"/namespaces/{namespace}/tables/{name}")["metadata"]

    def commit(self, namespace, name, updates, requirements=()):
        return self.call("POST", f"/namespaces/{namespace}/tables/{name}", {"requirements": list(requirements), "updates": updates})


def local_path(location):
    return location[len("file://"):] if location.startswith("file://") else location.removeprefix("file:")


def field(name, field_id, type_):
    """A pyarrow field with its Iceberg field id (None: without one)."""
    return pa.field(name, type_, metadata=None if field_id is None else {"PARQUET:field_id": str(field_id)})


def write_parquet(metadata, table, name=None):
    """Writes below the table's location; answers what a manifest says of the file."""
    location = f"{metadata['location']}/data/{name or uuid.uuid4()}.parquet"
    path = local_path(location)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    pq.write_table(table, path)
    return {"file_path": location, "file_size_in_bytes": os.path.getsize(path), "record_count": table.num_rows}


def data_file(written, partition=None):
    return {**written, "content": DATA, "partition": partition or {}}


def position_deletes(metadata, positions, partition=None):
    """A position delete file: `positions` are pairs of data file location and row, sorted as the specification asks."""
    rows = sorted(positions)
    table = pa.table(
        [pa.array([p for p, _ in rows]), pa.array([n for _, n in rows], pa.int64())],
        schema=pa.schema([field("file_path", 2147483546, pa.string()), field("pos", 2147483545, pa.int64())]),
    )
    return {**write_parquet(metadata, table), "content": POSITION_DELETES, "partition": partition or {}}


def equality_deletes(metadata, table, ids, partition=None):
    return {**write_parquet(metadata, table), "content": EQUALITY_DELETES, "equality_ids": ids, "partition": partition or {}}


def deletion_vector(metadata, data_location, positions):
    """A Puffin file with one deletion-vector-v1 blob."""
    keys = sorted({p >> 32 for p in positions})
    vector = struct.pack("<Q", len(keys))
    for key in keys:
        vector += struct.pack("<I", key) + BitMap([p & 0xFFFFFFFF for p in positions if p >> 32 == key]).serialize()
    body = bytes.fromhex("d1d33964") + vector
    blob = struct.pack(">I", len(body)) + body + struct.pack(">I", zlib.crc32(body))
    magic = b"PFA1"
    footer = json.dumps(
        {
            "blobs": [
                {
                    "type": "deletion-vector-v1",
                    "fields": [2147483645],
                    "snapshot-id": -1,
                    "sequence-number": -1,
                    "offset": len(magic),
                    "length": len(blob),
                    "properties": {"referenced-data-file": data_location, "cardinality": str(len(positions))},
                }
            ]
        }
    ).encode()
    content = magic + blob + magic + footer + struct.pack("<I", len(footer)) + b"\0\0\0\0" + magic
    location = f"{metadata['location']}/data/{uuid.uuid4()}.puffin"
    with open(local_path(location), "wb") as file:
        file.write(content)
    return {
        "content": POSITION_DELETES,
        "file_path": location,
        "file_format": "PUFFIN",
        "partition": {},
        "record_count": len(positions),
        "file_size_in_bytes": len(content),
        "referenced_data_file": data_location,
        "content_offset": len(magic),
        "content_size_in_bytes": len(blob),
    }


def optional(name, type_, field_id):
    return {"name": name, "type": ["null", type_], "default": None, "field-id": field_id}


def required(name, type_, field_id):
    return {"name": name, "type": type_, "field-id": field_id}


def manifest_schema(partition_fields, version):
    data_file_fields = [
        required("content", "int", 134),
        required("file_path", "string", 100),
        required("file_format", "string", 101),
        required("partition", {"type": "record", "name": "r102", "fields": partition_fields}, 102),
        required("record_count", "long", 103),
        required("file_size_in_bytes", "long", 104),
        optional("equality_ids", {"type": "array", "items": "int", "element-id": 136}, 135),
        optional("sort_order_id", "int", 140),
    ]
    if version >= 3:
        data_file_fields += [
            optional("first_row_id", "long", 142),
            optional("referenced_data_file", "string", 143),
            optional("content_offset", "long", 144),
            optional("content_size_in_bytes", "long", 145),
        ]
    return {
        "type": "record",
        "name": "manifest_entry",
        "fields": [
            required("status", "int", 0),
            optional("snapshot_id", "long", 1),
            optional("sequence_number", "long", 3),
            optional("file_sequence_number", "long", 4),
            required("data_file", {"type": "record", "name": "r2", "fields": data_file_fields}, 2),
        ],
    }


def manifest_list_schema(version):
    fields = [
        required("manifest_path", "string", 500),
        required("manifest_length", "long", 501),
        required("partition_spec_id", "int", 502),
        required("content", "int", 517),
        required("sequence_number", "long", 515),
        required("min_sequence_number", "long", 516),
        required("added_snapshot_id", "long", 503),
        required("added_files_count", "int", 504),
        required("existing_files_count", "int", 505),
        required("deleted_files_count", "int", 506),
        required("added_rows_count", "long", 512),
        required("existing_rows_count", "long", 513),
        required("deleted_rows_count", "long", 514),
    ]
    return {"type": "record", "name": "manifest_file", "fields": fields + ([optional("first_row_id", "long", 520)] if version >= 3 else [])}


def append_snapshot(rest, namespace, name, files, partition_fields=()):
    """Commits one snapshot that adds `files` (data and deletes) to what the current snapshot has; answers its id."""
    metadata = rest.load(namespace, name)
    version, sequence = metadata["format-version"], metadata["last-sequence-number"] + 1
    snapshot_id = random.getrandbits(62) | 1 << 61
    folder = f"{metadata['location']}/metadata"
    os.makedirs(local_path(folder), exist_ok=True)
    current = next((s for s in metadata.get("snapshots", []) if s["snapshot-id"] == metadata.get("current-snapshot-id")), None)
    manifests = []
    if current is not None:
        with open(local_path(current["manifest-list"]), "rb") as file:
            manifests = list(fastavro.reader(file))
    first_row_id = metadata.get("next-row-id", 0)
    added_rows = 0
    for content in (0, 1):
        group = [f for f in files if (f["content"] != DATA) == bool(content)]
        if not group:
            continue
        entries = [
            {"status": 1, "snapshot_id": snapshot_id, "data_file": {"file_format": "PARQUET", **f}} for f in group
        ]
        location = f"{folder}/{uuid.uuid4()}.avro"
        schema = next(s for s in metadata["schemas"] if s["schema-id"] == metadata["current-schema-id"])
        spec = next(s for s in metadata["partition-specs"] if s["spec-id"] == metadata["default-spec-id"])
        with open(local_path(location), "wb") as file:
            fastavro.writer(
                file,
                fastavro.parse_schema(manifest_schema(list(partition_fields), version)),
                entries,
                metadata={
                    "schema": json.dumps(schema),
                    "schema-id": str(schema["schema-id"]),
                    "partition-spec": json.dumps(spec["fields"]),
                    "partition-spec-id": str(spec["spec-id"]),
                    "format-version": str(version),
                    "content": "deletes" if content else "data",
                },
            )
        rows = sum(f["record_count"] for f in group)
        manifest = {
            "manifest_path": location,
            "manifest_length": os.path.getsize(local_path(location)),
            "partition_spec_id": spec["spec-id"],
            "content": content,
            "sequence_number": sequence,
            "min_sequence_number": sequence,
            "added_snapshot_id": snapshot_id,
            "added_files_count": len(group),
            "existing_files_count": 0,
            "deleted_files_count": 0,
            "added_rows_count": rows,
            "existing_rows_count": 0,
            "deleted_rows_count": 0,
        }
        if version >= 3 and not content:
            manifest["first_row_id"] = first_row_id + added_rows
            added_rows += rows
        manifests.append(manifest)
    list_location = f"{folder}/snap-{snapshot_id}.avro"
    with open(local_path(list_location), "wb") as file:
        fastavro.writer(
            file,
            fastavro.parse_schema(manifest_list_schema(version)),
            manifests,
            metadata={"snapshot-id": str(snapshot_id), "sequence-number": str(sequence), "format-version": str(version)},
        )
    snapshot = {
        "snapshot-id": snapshot_id,
        "sequence-number": sequence,
        "timestamp-ms": int(time.time() * 1000),
        "manifest-list": list_location,
        "schema-id": metadata["current-schema-id"],
        "summary": {"operation": "append" if all(f["content"] == DATA for f in files) else "overwrite"},
    }
    if current is not None:
        snapshot["parent-snapshot-id"] = current["snapshot-id"]
    if version >= 3:
        snapshot["first-row-id"] = first_row_id
        snapshot["added-rows"] = added_rows
    rest.commit(
        namespace,
        name,
        [
            {"action": "add-snapshot", "snapshot": snapshot},
            {"action": "set-snapshot-ref", "ref-name": "main", "type": "branch", "snapshot-id": snapshot_id},
        ],
    )
    return snapshot_id
