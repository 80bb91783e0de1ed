"""Spark on the catalog. Reads lines of JSON {"sql": ...} and answers each with one line: {"rows": [[...]]} or {"error": ...}.
Arguments: catalog URL, token, the jars of Iceberg, a folder for Spark's own files; for a catalog in a bucket its name and the way to its files."""

import json
import os
import sys

from pyspark.sql import SparkSession

url, token, jar, folder = sys.argv[1:5]
warehouse, delegation = sys.argv[5:7] if len(sys.argv) > 5 else ("lake", None)
answers = os.fdopen(os.dup(1), "w", buffering=1)
os.dup2(2, 1)
catalog = {
    "": "org.apache.iceberg.spark.SparkCatalog",
    ".type": "rest",
    ".uri": url,
    ".token": token,
    ".warehouse": warehouse,
    ".view-endpoints-supported": "true",
}
if delegation is not None:
    catalog[".header.X-Iceberg-Access-Delegation"] = delegation
    catalog[".io-impl"] = "org.apache.iceberg.aws.s3.S3FileIO"
builder = (
    SparkSession.builder.master("local[2]")
    .config("spark.jars", jar)
    .config("spark.driver.memory", "1g")
    .config("spark.driver.bindAddress", "127.0.0.1")
    .config("spark.driver.host", "127.0.0.1")
    .config("spark.ui.enabled", "false")
    .config("spark.local.dir", folder)
    .config("spark.sql.warehouse.dir", folder)
    .config("spark.sql.shuffle.partitions", "2")
    .config("spark.sql.session.timeZone", "UTC")
    .config("spark.sql.defaultCatalog", "lake")
    .config("spark.sql.extensions", "org.apache.iceberg.spark.extensions.IcebergSparkSessionExtensions")
)
if delegation is not None:
    # Iceberg's procedures take files of less than a day only in tests.
    builder = builder.config("spark.testing", "true")
for name, value in catalog.items():
    builder = builder.config(f"spark.sql.catalog.lake{name}", value)
spark = builder.getOrCreate()
spark.sparkContext.setLogLevel("ERROR")
print(json.dumps({"rows": [["ready"]]}), file=answers)
for line in sys.stdin:
    try:
        rows = [list(row) for row in spark.sql(json.loads(line)["sql"]).collect()]
        print(json.dumps({"rows": rows}, default=str), file=answers)
    except Exception as error:
        print(json.dumps({"error": str(error)[:2000]}), file=answers)
spark.stop()
