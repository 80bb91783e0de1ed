"""dbt over Postgres: a line `dbt, feature, outcome` for each feature, with tabs.

    postgres_dbt.py URL

A project of one model in a folder of its own; the URL's database has the tables of `test/support/browsed-tables.ts`.
"""

import pathlib
import sys
import tempfile
from urllib.parse import unquote, urlparse

from dbt.cli.main import dbtRunner

PARTS = urlparse(sys.argv[1])
PROFILES = f"""
skein:
  target: dev
  outputs:
    dev:
      type: postgres
      host: {PARTS.hostname}
      port: {PARTS.port}
      user: {unquote(PARTS.username)}
      password: '{unquote(PARTS.password)}'
      dbname: {PARTS.path[1:]}
      schema: public
      threads: 1
"""


def ran(*args):
    found = dbtRunner().invoke([*args, "--quiet"])
    if not found.success:
        raise AssertionError(str(found.exception or [str(one.message) for one in getattr(found.result, "results", [])]))
    return found.result


with tempfile.TemporaryDirectory() as folder:
    place = pathlib.Path(folder)
    (place / "models").mkdir()
    (place / "profiles.yml").write_text(PROFILES)
    (place / "dbt_project.yml").write_text("name: skein\nversion: '1.0'\nprofile: skein\n")
    (place / "models/sources.yml").write_text("sources:\n  - name: public\n    tables:\n      - name: customers\n")
    (place / "models/names.sql").write_text("select id, full_name from {{ source('public', 'customers') }}\n")
    flags = ["--project-dir", folder, "--profiles-dir", folder]
    for feature, work in {
        "debug": lambda: ran("debug", *flags),
        "compile": lambda: ran("compile", *flags),
        "show": lambda: ran("show", "--select", "names", *flags),
        "docs": lambda: ran("docs", "generate", *flags),
    }.items():
        try:
            work()
            outcome = "ok"
        except BaseException as error:
            outcome = " ".join(str(error).split())[:800]
        print("dbt", feature, outcome, sep="\t", flush=True)
