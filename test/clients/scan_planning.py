"""Compares the catalog's scan planning with PyIceberg's own, over generated filters. Arguments: catalog URL, token, seed, filters a table.
Prints one line of JSON: per table what was written, and per filter which data files each planner chose, and which hold a matching row."""

import json
import random
import sys
import urllib.error
import urllib.request
from datetime import date, datetime, time, timedelta
from decimal import Decimal

import pyarrow as pa
import pyarrow.parquet as pq
from pyiceberg.catalog import load_catalog
from pyiceberg.catalog.rest.scan_planning import PlanTableScanRequest
from pyiceberg.expressions import (
    And,
    EqualTo,
    GreaterThan,
    GreaterThanOrEqual,
    In,
    IsNaN,
    IsNull,
    LessThan,
    LessThanOrEqual,
    Not,
    NotEqualTo,
    NotIn,
    NotNaN,
    NotNull,
    NotStartsWith,
    Or,
    StartsWith,
)
from pyiceberg.expressions.visitors import expression_evaluator, rewrite_not
from pyiceberg.partitioning import PartitionField, PartitionSpec
from pyiceberg.schema import Schema
from pyiceberg.transforms import (
    BucketTransform,
    DayTransform,
    HourTransform,
    IdentityTransform,
    MonthTransform,
    TruncateTransform,
    YearTransform,
)
from pyiceberg.typedef import Record
from pyiceberg.types import (
    BooleanType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    NestedField,
    StringType,
    TimestampType,
    TimestamptzType,
)
from pyiceberg.utils.datetime import date_to_days, datetime_to_micros

import iceberg_by_hand as by_hand
from iceberg_by_hand import Rest, append_snapshot

URL, TOKEN, SEED, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
NS = "planned"
catalog = load_catalog("local", type="rest", uri=URL, token=TOKEN, warehouse="lake")
server_side = load_catalog("server", type="rest", uri=URL, token=TOKEN, warehouse="lake", **{"scan-planning-mode": "server"})
rest = Rest(URL, TOKEN)
random_ = random.Random(SEED)

SCHEMA = Schema(
    NestedField(1, "id", LongType(), required=True),
    NestedField(2, "name", StringType()),
    NestedField(3, "ts", TimestampType()),
    NestedField(4, "price", DecimalType(9, 2)),
    NestedField(5, "ratio", DoubleType()),
    NestedField(6, "day", DateType()),
    NestedField(7, "flag", BooleanType()),
    NestedField(8, "size", IntegerType()),
    NestedField(9, "part", FloatType()),
    NestedField(10, "seen", TimestamptzType()),
)
NAMES = ["alpha", "alpine", "beta", "bet", "gamma", "delta", "Ünal", "zeta", "", "alpha centauri and beyond"]
EPOCH = datetime(2024, 1, 1)


def row(i, nulls=True):
    """The i-th row: neighbours are alike, so that files have narrow bounds."""
    none = lambda value, every: None if nulls and i % every == 3 else value
    return {
        "id": i,
        "name": none(NAMES[(i // 7) % len(NAMES)], 11),
        "ts": none(EPOCH + timedelta(hours=5 * i, seconds=i), 13),
        "price": none(Decimal(i * 125 % 5000) / 100, 17),
        "ratio": none(float("nan") if i % 19 == 5 else i / 8, 9),
        "day": none(date(2023, 11, 1) + timedelta(days=i), 23),
        "flag": none(i % 3 == 0, 5),
        "size": none(1000 - i, 29),
        "part": none(i / 4, 7),
        "seen": none(pa.scalar(EPOCH + timedelta(hours=9 * i), pa.timestamp("us", "UTC")).as_py(), 31),
    }


def table_of(rows):
    return pa.Table.from_pylist(rows, schema=SCHEMA.as_arrow())


def spec(*fields):
    return PartitionSpec(*[PartitionField(source, 1000 + i, transform, name) for i, (source, transform, name) in enumerate(fields)])


def write(name, partition_spec, ranges, nulls=True):
    table = catalog.create_table(f"{NS}.{name}", SCHEMA, partition_spec=partition_spec)
    for start, end in ranges:
        table.append(table_of([row(i, nulls) for i in range(start, end)]))
    return table


RANGES = [(0, 12), (12, 40), (40, 44), (44, 90), (90, 120)]
catalog.create_namespace(NS)
write("plain", spec(), [(i, i + 8) for i in range(0, 120, 8)])
write("bucketed", spec((1, BucketTransform(4), "id_bucket"), (2, TruncateTransform(2), "name_2")), RANGES[:3])
write("daily", spec((3, DayTransform(), "ts_day")), RANGES[:4])
write("monthly", spec((6, MonthTransform(), "day_month"), (7, IdentityTransform(), "flag")), RANGES)
write("yearly", spec((10, YearTransform(), "seen_year"), (8, TruncateTransform(100), "size_100")), [(0, 60), (900, 960), (2000, 2040)])
write("hourly", spec((3, HourTransform(), "ts_hour")), [(0, 14)])
write("identity", spec((2, IdentityTransform(), "name")), RANGES)
write("priced", spec((4, TruncateTransform(500), "price_500"), (6, BucketTransform(3), "day_bucket")), RANGES[:3])
write("whole", spec((2, BucketTransform(5), "name_bucket"), (6, MonthTransform(), "day_month")), RANGES[1:3], nulls=False)

evolved = write("evolved", spec((2, IdentityTransform(), "name")), RANGES[:2])
with evolved.update_spec() as update:
    update.remove_field("name")
    update.add_field("id", BucketTransform(3), "id_bucket")
evolved.append(table_of([row(i) for i in range(200, 230)]))
with evolved.update_spec() as update:
    update.add_field("ts", MonthTransform(), "ts_month")
evolved.append(table_of([row(i) for i in range(300, 400, 5)]))

deleted = write("deleted", spec(), [(i, i + 10) for i in range(0, 100, 10)])
deleted.delete("id >= 20 and id < 30")
deleted.delete("id in (41, 42)")
paths = [task.file.file_path for task in deleted.refresh().scan().plan_files()]
positions = by_hand.position_deletes(rest.load(NS, "deleted"), [(paths[0], 0), (paths[1], 1), (paths[1], 2)])
append_snapshot(rest, NS, "deleted", [positions])

TABLES = ["plain", "bucketed", "daily", "monthly", "yearly", "hourly", "identity", "priced", "whole", "evolved", "deleted"]


def literal(column):
    i = random_.randrange(0, 130)
    value = row(i, nulls=False)[column]
    if column == "name":
        return random_.choice([value, value[:1], value + "x", "zzz", "a"])
    if column == "ratio":
        return i / 8 if value != value else value + random_.choice([0.0, 0.0625])
    if column == "price":
        return value.quantize(Decimal("0.01"))
    if column == "ts":
        return value + timedelta(microseconds=random_.choice([0, 1, -1]))
    return value


COMPARISONS = [EqualTo, NotEqualTo, LessThan, LessThanOrEqual, GreaterThan, GreaterThanOrEqual]
COLUMNS = ["id", "name", "ts", "price", "ratio", "day", "size", "part", "seen"]


def leaf():
    kind = random_.random()
    column = random_.choice(COLUMNS)
    if kind < 0.55:
        return random_.choice(COMPARISONS)(column, literal(column))
    if kind < 0.7:
        return random_.choice([In, In, NotIn])(column, [literal(column) for _ in range(random_.randrange(2, 6))])
    if kind < 0.8:
        return random_.choice([IsNull, NotNull])(random_.choice(COLUMNS + ["flag"]))
    if kind < 0.86:
        return random_.choice([IsNaN, NotNaN])("ratio")
    if kind < 0.9:
        return EqualTo("flag", random_.choice([True, False]))
    return random_.choice([StartsWith, StartsWith, NotStartsWith])("name", random_.choice(["a", "al", "alp", "b", "z", "Ü", "gam", "alpha c"]))


def expression(depth):
    if depth == 0 or random_.random() < 0.25:
        return leaf()
    kind = random_.random()
    if kind < 0.2:
        return Not(expression(depth - 1))
    return (And if kind < 0.65 else Or)(expression(depth - 1), expression(depth - 1))


def plan(name, body):
    """The catalog's answer with all its plan tasks fetched: tasks, and how many answers it took."""
    path = f"/namespaces/{NS}/tables/{name}"
    answer = rest.call("POST", f"{path}/plan", body)
    assert answer["status"] == "completed", answer["status"]
    answers = [answer] + [rest.call("POST", f"{path}/tasks", {"plan-task": task}) for task in answer.get("plan-tasks", [])]
    tasks = []
    for one in answers:
        for task in one["file-scan-tasks"]:
            deletes = [one["delete-files"][i]["file-path"] for i in task.get("delete-file-references", [])]
            tasks.append((task["data-file"], sorted(deletes), task["residual-filter"]))
    return tasks, len(answers)


def internal(value):
    if isinstance(value, datetime):
        return datetime_to_micros(value)
    return date_to_days(value) if isinstance(value, date) else value


FILES = {}


def rows_of(path):
    if path not in FILES:
        table = pq.read_table(by_hand.local_path(path))
        FILES[path] = [Record(*[internal(line[field.name]) for field in SCHEMA.fields]) for line in table.to_pylist()]
    return FILES[path]


def name_of(path):
    return path.rsplit("/", 1)[1]


results = []
for name in TABLES:
    table = catalog.load_table(f"{NS}.{name}")
    everything = {task.file.file_path for task in table.scan().plan_files()}
    for _ in range(COUNT):
        filter_ = expression(random_.randrange(1, 4))
        request = PlanTableScanRequest(filter=filter_)
        body = json.loads(request.model_dump_json(by_alias=True, exclude_none=True))
        result = {"table": name, "filter": str(filter_), "files": len(everything)}
        try:
            theirs = {
                task.file.file_path: sorted(one.file_path for one in task.delete_files)
                for task in table.scan(row_filter=filter_).plan_files()
            }
        except Exception as error:  # PyIceberg itself cannot plan it
            results.append({**result, "theirs_failed": f"{type(error).__name__}: {error}"})
            continue
        tasks, answers = plan(name, body)
        ours = {file["file-path"]: deletes for file, deletes, _ in tasks}
        # A null satisfies neither a comparison nor its negation, as in SQL.
        matches = expression_evaluator(SCHEMA, rewrite_not(filter_), True)
        needed = {path for path in everything - set(ours) if any(matches(record) for record in rows_of(path))}
        result["answers"] = answers
        result["equal"] = ours == theirs
        result["missing"] = sorted(map(name_of, needed))
        result["only_ours"] = sorted(map(name_of, set(ours) - set(theirs)))
        result["only_theirs"] = sorted(map(name_of, set(theirs) - set(ours)))
        result["deletes_differ"] = [name_of(path) for path in set(ours) & set(theirs) if ours[path] != theirs[path]]
        result["kept"] = len(ours)
        result["residual_is_filter"] = all(residual == body["filter"] for _, _, residual in tasks)
        try:
            through = {task.file.file_path for task in server_side.load_table(f"{NS}.{name}").scan(row_filter=filter_).plan_files()}
            result["through_client"] = through == set(ours)
        except Exception as error:
            result["through_client"] = f"{type(error).__name__}: {str(error)[:200]}"
        results.append(result)



def deletes_by_hand():
    """Delete files of every kind, as the catalog plans them: name of the kind -> the delete file of the first task."""
    fields = [{"id": 1, "name": "id", "required": False, "type": "long"}]
    schema = {"type": "struct", "schema-id": 0, "fields": fields}
    rows = pa.table([pa.array([1, 2, 3], pa.int64())], schema=pa.schema([by_hand.field("id", 1, pa.int64())]))
    planned = {}
    for kind, version in (("equality", "2"), ("vector", "3")):
        metadata = rest.create(NS, kind, schema, properties={"format-version": version})
        data = by_hand.write_parquet(metadata, rows)
        append_snapshot(rest, NS, kind, [by_hand.data_file(data)])
        if kind == "equality":
            delete = by_hand.equality_deletes(metadata, rows.slice(0, 1), [1])
        else:
            delete = by_hand.deletion_vector(metadata, data["file_path"], [0, 2])
        append_snapshot(rest, NS, kind, [delete])
        answer = rest.call("POST", f"/namespaces/{NS}/tables/{kind}/plan", {"stats-fields": ["id"]})
        planned[kind] = {"data": data["file_path"], "delete": delete["file_path"], "answer": answer}
    return planned


def appends():
    """File names of an incremental scan, and of the appends that it spans as PyIceberg knows them."""
    table = catalog.load_table(f"{NS}.plain")
    log = [entry.snapshot_id for entry in table.history()]
    body = {"start-snapshot-id": log[2], "end-snapshot-id": log[5]}
    incremental = {file["file-path"] for file, _, _ in plan("plain", body)[0]}
    files_at = lambda snapshot: {task.file.file_path for task in table.scan(snapshot_id=snapshot).plan_files()}
    back_then = {file["file-path"] for file, _, _ in plan("plain", {"snapshot-id": log[2]})[0]}
    return [len(incremental), incremental == files_at(log[5]) - files_at(log[2]), back_then == files_at(log[2])]


print(json.dumps({"filters": results, "deletes": deletes_by_hand(), "appends": appends()}))
