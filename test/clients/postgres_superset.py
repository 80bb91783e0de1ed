"""Superset over the Postgres wire: its server in this process, driven by its REST API. A line `tool, feature, outcome` for each feature, with tabs.

    postgres_superset.py URL

The URL's database has the tables of `test/support/browsed-tables.ts`.
"""

import os
import subprocess
import sys
import tempfile
import traceback

import psycopg2

URL = sys.argv[1]
OWN = tempfile.TemporaryDirectory()
FOLDER = OWN.name
SETTINGS = f"""
SECRET_KEY = "a key of the tests, which guards nothing else"
SQLALCHEMY_DATABASE_URI = "sqlite:///{FOLDER}/meta.db"
WTF_CSRF_ENABLED = False
TALISMAN_ENABLED = False
"""
with open(f"{FOLDER}/superset_config.py", "w") as file:
    file.write(SETTINGS)
os.environ.update(SUPERSET_CONFIG_PATH=f"{FOLDER}/superset_config.py", SUPERSET_HOME=FOLDER)

from superset.app import create_app  # noqa: E402: it reads its settings when it is loaded


def same(given, expected):
    assert given == expected, f"{given!r} is not {expected!r}"


class Superset:
    name = "Superset"

    def __init__(self):
        superset = os.path.join(os.path.dirname(sys.executable), "superset")
        for command in (["db", "upgrade"], ["init"]):
            done = subprocess.run([superset, *command], capture_output=True, text=True)
            assert done.returncode == 0, done.stderr[-800:]
        app = create_app()
        with app.app_context():
            from superset import security_manager

            if security_manager.find_user("admin") is None:
                security_manager.add_user("admin", "A", "B", "admin@example.com", security_manager.find_role("Admin"), password="admin")
        self.client = app.test_client()
        login = {"username": "admin", "password": "admin", "provider": "db"}
        self.headers = {}
        self.headers = {"Authorization": "Bearer " + self.ask("POST", "/api/v1/security/login", login)["access_token"]}
        with psycopg2.connect(URL) as connection, connection.cursor() as cursor:
            cursor.execute("DELETE FROM public.orders")
            cursor.execute("INSERT INTO public.orders SELECT i, i % 7, DATE '2024-01-01' FROM generate_series(1, 1000) r(i)")
            cursor.execute("SELECT customer_id, sum(order_id) FROM public.orders GROUP BY 1 ORDER BY 1")
            self.sums = cursor.fetchall()

    def ask(self, method, path, body=None):
        answer = self.client.open(path, method=method, json=body, headers=self.headers)
        assert answer.status_code < 300, f"{method} {path}: {answer.status_code} {answer.get_data(as_text=True)[:800]}"
        return answer.get_json()

    def database(self):
        uri = URL.replace("postgres://", "postgresql+psycopg2://")
        body = {"database_name": "skein", "sqlalchemy_uri": uri, "expose_in_sqllab": True}
        self.ask("POST", "/api/v1/database/test_connection/", {"database_name": "skein", "sqlalchemy_uri": uri})
        self.id = self.ask("POST", "/api/v1/database/", body)["id"]
        found = self.ask("GET", f"/api/v1/database/{self.id}/schemas/")["result"]
        assert {"public", "other"} <= set(found), found
        tables = self.ask("GET", f"/api/v1/database/{self.id}/tables/?q=(schema_name:public)")["result"]
        same({(one["value"], one["type"]) for one in tables}, {("customers", "table"), ("orders", "table"), ("order_names", "view")})

    def dataset(self):
        self.set = self.ask("POST", "/api/v1/dataset/", {"database": self.id, "schema": "public", "table_name": "orders"})["id"]
        columns = self.ask("GET", f"/api/v1/dataset/{self.set}")["result"]["columns"]
        same({one["column_name"]: one["type"] for one in columns}, {"order_id": "BIGINT", "customer_id": "BIGINT", "placed_on": "DATE"})

    def chart(self):
        total = {"expressionType": "SIMPLE", "column": {"column_name": "order_id"}, "aggregate": "SUM", "label": "total"}
        query = {"columns": ["customer_id"], "metrics": [total], "orderby": [["customer_id", True]], "row_limit": 100, "filters": []}
        body = {"datasource": {"id": self.set, "type": "table"}, "queries": [query], "result_format": "json", "result_type": "full", "force": True}
        [found] = self.ask("POST", "/api/v1/chart/data", body)["result"]
        same([(row["customer_id"], int(row["total"])) for row in found["data"]], [(one, int(total)) for one, total in self.sums])

    def lab(self):
        body = {"database_id": self.id, "sql": "SELECT count(*) AS n FROM public.orders", "schema": "public", "runAsync": False}
        same(self.ask("POST", "/api/v1/sqllab/execute/", body)["data"], [{"n": 1000}])


FEATURES = {"database": "database", "dataset": "dataset", "a chart's query": "chart", "SQL Lab": "lab"}
tool = None
for feature, method in FEATURES.items():
    try:
        tool = tool or Superset()
        getattr(tool, method)()
        outcome = "ok"
    except BaseException as error:
        place = next(one.lineno for one in reversed(traceback.extract_tb(error.__traceback__)) if one.filename == __file__)
        outcome = f"line {place}: {type(error).__name__} " + " ".join(str(error).split())[:800]
    print("Superset", feature, outcome, sep="\t", flush=True)
