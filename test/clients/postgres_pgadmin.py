"""pgAdmin 4 in its desktop mode: its server as a process of its own, driven by the requests that its pages send. A line `tool, feature, outcome`
for each feature, with tabs.

    postgres_pgadmin.py URL

The URL's database has the tables of `test/support/browsed-tables.ts`.
"""

import http.cookiejar
import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time
import traceback
import urllib.error
import urllib.request
from urllib.parse import parse_qs, unquote, urlparse

import pgadmin4

PARTS = urlparse(sys.argv[1])
OPTIONS = parse_qs(PARTS.query).get("options", [""])[0]
DATABASE = PARTS.path[1:]
START_SECONDS_MAX = 300
# Its releases are asked for at pgadmin.org, and a key for passwords at the desktop, unless these say otherwise.
SETTINGS = """
SERVER_MODE = False
MASTER_PASSWORD_REQUIRED = False
USE_OS_SECRET_STORAGE = False
UPGRADE_CHECK_ENABLED = False
MINIFY_HTML = False
HELP_PATH = "../../docs/en_US/_build/html/"
DATA_DIR = {folder!r}
"""


TYPES = {
    "id": "bigint",
    "full_name": "text",
    "credit": "numeric(12,2)",
    "born_on": "date",
    "seen_at": "timestamp without time zone",
    "woken_at": "timestamp with time zone",
    "is_kept": "boolean",
    "height": "real",
    "weight": "double precision",
    "children": "integer",
    "face": "bytea",
    "token_of": "uuid",
    "labels": "text[]",
    "scores": "integer[]",
}


def same(given, expected):
    assert given == expected, f"{given!r} is not {expected!r}"


class Server:
    """pgAdmin's server, and a browser's cookies and token for it."""

    def __init__(self, folder):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        settings = os.path.join(folder, "config_distro.py")
        with open(settings, "w") as file:
            file.write(SETTINGS.format(folder=folder))
        self.log = os.path.join(folder, "out.log")
        with open(self.log, "w") as log:
            self.process = subprocess.Popen(
                [sys.executable, os.path.join(list(pgadmin4.__path__)[0], "pgAdmin4.py")],
                env={**os.environ, "CONFIG_DISTRO_FILE_PATH": settings, "PGADMIN_SERVER_MODE": "OFF", "PGADMIN_INT_PORT": str(port), "HOME": folder},
                stdout=log,
                stderr=log,
            )
        self.address = f"http://127.0.0.1:{port}"
        self.browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(http.cookiejar.CookieJar()))
        self.token = None
        end = time.monotonic() + START_SECONDS_MAX
        while True:
            try:
                self.text("GET", "/misc/ping")
                break
            except OSError:
                if self.process.poll() is not None or time.monotonic() > end:
                    raise AssertionError(f"pgAdmin does not start: {self.tail()}") from None
                time.sleep(0.5)
        # As its page does: whoever comes is signed in, and the script of the page has the token.
        self.text("GET", "/browser/")
        [self.token] = re.findall(r"pgAdmin\['csrf_token'\] = '([^']+)'", self.text("GET", "/browser/js/utils.js"))

    def tail(self):
        with open(self.log) as log:
            return log.read()[-2000:]

    def text(self, method, path, body=None):
        headers = {} if self.token is None else {"X-pgA-CSRFToken": self.token}
        data = None
        if body is not None:
            headers["content-type"] = "application/json"
            data = json.dumps(body).encode()
        request = urllib.request.Request(self.address + path, data=data, headers=headers, method=method)
        try:
            with self.browser.open(request, timeout=120) as answer:
                return answer.read().decode()
        except urllib.error.HTTPError as error:
            raise AssertionError(f"{method} {path}: {error.code} {error.read().decode()[:600]}") from None

    def ask(self, method, path, body=None):
        return json.loads(self.text(method, path, body))

    def stop(self):
        self.process.kill()
        self.process.wait()


class Pgadmin:
    """What a person does, from a new server down to the column of a table."""

    def __init__(self, server):
        self.server = server

    def nodes(self, kind, *ids):
        found = self.server.ask("GET", f"/browser/{kind}/nodes/{self.path}" + "".join(f"/{one}" for one in ids) + "/")["data"]
        return {one["label"]: one for one in found}

    def properties(self, kind, *ids):
        return self.server.ask("GET", f"/browser/{kind}/obj/{self.path}" + "".join(f"/{one}" for one in ids))

    def connects(self):
        [group] = [one["_id"] for one in self.server.ask("GET", "/browser/nodes/")["data"] if one["_type"] == "server_group"]
        wanted = {
            "name": "skein",
            "host": PARTS.hostname,
            "port": PARTS.port,
            "db": DATABASE,
            "username": unquote(PARTS.username),
            "connection_params": [
                {"name": "sslmode", "keyword": "sslmode", "value": "prefer", "cid": "c1"},
                *([{"name": "options", "keyword": "options", "value": OPTIONS, "cid": "c2"}] if OPTIONS else []),
            ],
        }
        node = self.server.ask("POST", f"/browser/server/obj/{group}/", wanted)["node"]
        same((node["label"], node["connected"]), ("skein", False))
        self.path = f"{group}/{node['_id']}"
        self.sid = node["_id"]
        found = self.server.ask("POST", f"/browser/server/connect/{self.path}", {"password": unquote(PARTS.password)})
        same((found["success"], found["data"]["connected"], found["data"]["db"]), (1, True, DATABASE))
        same(found["data"]["user"]["name"], unquote(PARTS.username))

    def databases(self):
        found = self.nodes("database")
        assert DATABASE in found, found
        self.database = found[DATABASE]["_id"]
        self.server.ask("POST", f"/browser/database/connect/{self.path}/{self.database}")
        same(self.properties("database", self.database)["name"], DATABASE)

    def schemas(self):
        found = self.nodes("schema", self.database)
        self.schema = {name: one["_id"] for name, one in found.items()}
        assert {"public", "other"} <= set(found), found
        same(self.properties("schema", self.database, self.schema["other"])["name"], "other")

    def tables(self):
        found = self.nodes("table", self.database, self.schema["public"])
        same(sorted(found), ["customers", "orders"])
        self.table = {name: one["_id"] for name, one in found.items()}
        same(sorted(self.nodes("table", self.database, self.schema["other"])), ["t"])

    def views(self):
        ids = (self.database, self.schema["public"])
        found = self.nodes("view", *ids)
        same(sorted(found), ["order_names"])

    def columns(self):
        ids = (self.database, self.schema["public"], self.table["customers"])
        found = self.nodes("column", *ids)
        same({name: one["displaytypname"] for name, one in found.items()}, TYPES)
        name = self.properties("column", *ids, found["full_name"]["_id"])
        same((name["name"], name["cltype"], name["attnotnull"], name["description"]), ("full_name", "text", True, "as_written"))
        credit = self.properties("column", *ids, found["credit"]["_id"])
        same((credit["cltype"], credit["attlen"], credit["attprecision"], credit["attnotnull"]), ("numeric", "12", "2", False))

    def table_properties(self):
        ids = (self.database, self.schema["public"], self.table["customers"])
        found = self.properties("table", *ids)
        same((found["name"], found["schema"], found["description"], found["relkind"]), ("customers", "public", "who_buys", "r"))
        same((found["relowner"], found["conname"], found["triggercount"]), (unquote(PARTS.username), "customers_pkey", "0"))
        same({one["name"]: one["displaytypname"] for one in found["columns"]}, TYPES)
        same([one["name"] for one in found["columns"] if one["is_primary_key"]], ["id"])
        [key] = found["primary_key"]
        same((key["name"], [one["column"] for one in key["columns"]]), ("customers_pkey", ["id"]))
        listed = self.properties("table", self.database, self.schema["public"], "")
        same(sorted(one["name"] for one in listed), ["customers", "orders"])

    def view_properties(self):
        [node] = self.nodes("view", self.database, self.schema["public"]).values()
        found = self.properties("view", self.database, self.schema["public"], node["_id"])
        same((found["name"], found["comment"], found["owner"], found["schema"]), ("order_names", "names_of_orders", unquote(PARTS.username), "public"))
        assert "JOIN" in found["definition"] and found["definition"].strip().startswith("SELECT o.order_id,"), found
        [listed] = self.properties("view", self.database, self.schema["public"], "")
        same(listed["name"], "order_names")

    def keys(self):
        ids = (self.database, self.schema["other"], self.nodes("table", self.database, self.schema["other"])["t"]["_id"])
        found = self.nodes("primary_key", *ids)
        same(sorted(found), ["t_pkey"])
        # The index of a key is shown as the key.
        same(self.nodes("index", *ids), {})
        key = self.properties("primary_key", *ids, found["t_pkey"]["_id"])
        same((key["name"], [one["column"] for one in key["columns"]]), ("t_pkey", ["part_id", "piece_id"]))

    def texts(self):
        ids = (self.database, self.schema["public"])
        text = lambda kind, *more: self.server.ask("GET", f"/browser/{kind}/sql/{self.path}" + "".join(f"/{one}" for one in (*ids, *more)))
        table = text("table", self.table["customers"])
        for part in ["CREATE TABLE IF NOT EXISTS public.customers", "id bigint NOT NULL", "credit numeric(12,2)", "labels text[]", "CONSTRAINT customers_pkey PRIMARY KEY (id)", "IS 'who_buys'", "IS 'as_written'"]:
            assert part in table, table
        [node] = self.nodes("view", *ids).values()
        view = text("view", node["_id"])
        assert "CREATE OR REPLACE VIEW public.order_names" in view and "IS 'names_of_orders'" in view, view
        schema = self.server.ask("GET", f"/browser/schema/sql/{self.path}/{self.database}/{self.schema['other']}")
        assert "COMMENT ON SCHEMA other" in schema and "IS 'far_away'" in schema, schema

    def needs(self):
        ids = (self.path, self.database, self.schema["public"], self.table["customers"])
        of = lambda what: [(one["type"], one["name"]) for one in self.server.ask("GET", f"/browser/table/{what}/" + "/".join(str(one) for one in ids))]
        assert ("schema", "public") in of("dependency"), of("dependency")
        assert ("primary_key", "public.customers_pkey") in of("dependent"), of("dependent")

    def sessions(self):
        [found] = self.server.ask("GET", f"/dashboard/activity/{self.sid}/{self.database}")
        mine = [one for one in found["activity"] if one["application_name"] == f"pgAdmin 4 - DB:{DATABASE}" and one["state"] == "active"]
        same([(one["datname"], one["usename"], one["blocking_pids"]) for one in mine], [(DATABASE, unquote(PARTS.username), "")])
        assert re.fullmatch(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d \S+", mine[0]["backend_start"]), mine
        for what in ["locks", "prepared"]:
            assert isinstance(self.server.ask("GET", f"/dashboard/{what}/{self.sid}/{self.database}"), list), what
        counts = self.server.ask("GET", f"/dashboard/dashboard_stats/{self.sid}/{self.database}?chart_names=session_stats,tps_stats,ti_stats,to_stats,bio_stats")
        assert counts["session_stats"]["Active"] >= 1, counts
        assert isinstance(counts["tps_stats"]["Transactions"], int) and isinstance(counts["bio_stats"]["Hits"], int), counts

    def statistics(self):
        found = self.server.ask("GET", f"/browser/table/stats/{self.path}/{self.database}/{self.schema['public']}/")["data"]
        same(sorted(one["Table name"] for one in found["rows"]), ["customers", "orders"])

    def search(self):
        found = self.server.ask("GET", f"/search_objects/search/{self.sid}/{self.database}?text=customers&type=all")["data"]
        same(sorted((one["type"], one["name"]) for one in found), [("primary_key", "customers_pkey"), ("table", "customers")])

    def finished(self, number):
        """What a tool that has started a query shows: it polls until the rows are there."""
        end = time.monotonic() + 120
        while True:
            found = self.server.ask("GET", f"/sqleditor/poll/{number}")["data"]
            if found["status"] != "Busy":
                return found
            assert time.monotonic() < end, found
            time.sleep(0.2)

    def queries(self):
        self.server.ask("POST", f"/sqleditor/initialize/sqleditor/1001/{self.path}/{self.database}", {"dbname": DATABASE})
        for sql, expected in [
            ("INSERT INTO public.orders VALUES (1, 7, DATE '2024-01-02'), (2, 8, NULL)", None),
            ("SELECT order_id, customer_id, placed_on FROM public.orders ORDER BY 1", [["1", "7", "2024-01-02"], ["2", "8", None]]),
        ]:
            self.server.ask("POST", "/sqleditor/query_tool/start/1001", {"sql": sql, "explain_plan": None})
            found = self.finished(1001)
            if expected is not None:
                same([one["name"] for one in found["colinfo"]], ["order_id", "customer_id", "placed_on"])
                same([row[:3] for row in found["result"]], expected)

    def data(self):
        self.server.ask("POST", f"/sqleditor/initialize/viewdata/1002/3/table/{self.path}/{self.database}/{self.table['orders']}", {"dbname": DATABASE})
        self.server.ask("GET", "/sqleditor/view_data/start/1002")
        found = self.finished(1002)
        same([one["name"] for one in found["colinfo"]], ["order_id", "customer_id", "placed_on"])
        same(sorted(row[:2] for row in found["result"]), [["1", "7"], ["2", "8"]])

    def settings(self):
        found = {one["name"]: one["setting"] for one in self.server.ask("GET", f"/dashboard/config/{self.sid}")}
        assert found["TimeZone"] in ("UTC", "Etc/UTC"), found["TimeZone"]


FEATURES = {
    "a server, with its password": "connects",
    "databases": "databases",
    "schemas": "schemas",
    "tables": "tables",
    "views": "views",
    "columns with their types": "columns",
    "properties of a table": "table_properties",
    "properties of a view": "view_properties",
    "primary keys": "keys",
    "texts that make objects": "texts",
    "what needs what": "needs",
    "sessions": "sessions",
    "statistics of tables": "statistics",
    "search": "search",
    "query tool": "queries",
    "data of a table": "data",
    "settings": "settings",
}


def main():
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        try:
            tool = Pgadmin(server)
            for feature, method in FEATURES.items():
                try:
                    getattr(tool, method)()
                    outcome = "ok"
                except BaseException as error:
                    place = next(one.lineno for one in reversed(traceback.extract_tb(error.__traceback__)) if one.filename == __file__)
                    outcome = f"line {place}: {type(error).__name__} " + " ".join(str(error).split())[:800]
                print("pgAdmin", feature, outcome, sep="\t", flush=True)
        finally:
            server.stop()


if __name__ == "__main__":
    main()
