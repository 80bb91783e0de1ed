"""What tools of Python find by pg_catalog: a line `tool, feature, outcome` for each, with tabs; the outcome is yes, or what is wrong.

    postgres_tools.py URL SCHEMA

The schema has the table `customers` (id BIGINT, name, price, tags; its key is id) with comments, and the view `v`.
"""

import asyncio
import contextlib
import io
import sys
import traceback
from urllib.parse import urlparse

import django
import sqlalchemy as sa
from django.conf import settings
from django.core.management import call_command
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column

URL = urlparse(sys.argv[1])
SCHEMA = sys.argv[2]


def same(given, expected):
    assert given == expected, f"{given!r} is not {expected!r}"


def attempt(tool, feature, work):
    try:
        work()
        outcome = "yes"
    except Exception as error:  # noqa: BLE001
        traceback.print_exc()
        outcome = f"{type(error).__name__}: {error}".replace("\n", " ").replace("\t", " ")[:300]
    print(tool, feature, outcome, sep="\t", flush=True)


def inspected(connection):
    inspector = sa.inspect(connection)
    assert SCHEMA in inspector.get_schema_names()
    same(inspector.get_table_names(schema=SCHEMA), ["customers"])
    same(inspector.get_view_names(schema=SCHEMA), ["v"])
    columns = inspector.get_columns("customers", schema=SCHEMA)
    same([(one["name"], str(one["type"]), one["nullable"]) for one in columns], [
        ("id", "BIGINT", False), ("name", "TEXT", True), ("price", "NUMERIC(10, 2)", True), ("tags", "ARRAY", True),
    ])
    same(columns[1]["comment"], "the name")
    key = inspector.get_pk_constraint("customers", schema=SCHEMA)
    same((key["name"], list(key["constrained_columns"])), ("customers_pkey", ["id"]))
    same(inspector.get_table_comment("customers", schema=SCHEMA), {"text": "people"})
    same(inspector.get_foreign_keys("customers", schema=SCHEMA), [])
    same(inspector.get_indexes("customers", schema=SCHEMA), [])
    same(inspector.get_unique_constraints("customers", schema=SCHEMA), [])
    same(inspector.get_check_constraints("customers", schema=SCHEMA), [])
    assert inspector.has_table("customers", schema=SCHEMA)
    assert not inspector.has_table("missing", schema=SCHEMA)


def reflected(connection):
    metadata = sa.MetaData(schema=SCHEMA)
    metadata.reflect(connection, views=True)
    same(sorted(metadata.tables), [f"{SCHEMA}.customers", f"{SCHEMA}.v"])
    same([one.name for one in metadata.tables[f"{SCHEMA}.customers"].primary_key], ["id"])


class Base(DeclarativeBase):
    pass


class Item(Base):
    __tablename__ = "items"
    __table_args__ = {"schema": SCHEMA}
    id: Mapped[int] = mapped_column(sa.BigInteger, primary_key=True, autoincrement=False)
    name: Mapped[str | None]


def mapped(connection):
    Base.metadata.create_all(connection)
    Base.metadata.create_all(connection)
    with Session(connection) as session:
        session.add_all([Item(id=1, name="a"), Item(id=2, name=None)])
        session.commit()
        same([(one.id, one.name) for one in session.scalars(sa.select(Item).order_by(Item.id))], [(1, "a"), (2, None)])
    Base.metadata.drop_all(connection)
    assert not sa.inspect(connection).has_table("items", schema=SCHEMA)


CHECKS = {"inspector": inspected, "reflect": reflected, "ORM with create_all and drop_all": mapped}


def engine_url(driver):
    return sa.URL.create(f"postgresql+{driver}", URL.username, URL.password, URL.hostname, URL.port, URL.path[1:])


def with_driver(driver, work):
    engine = sa.create_engine(engine_url(driver), isolation_level="AUTOCOMMIT")
    try:
        with engine.connect() as connection:
            work(connection)
    finally:
        engine.dispose()


async def with_asyncpg(work):
    engine = create_async_engine(engine_url("asyncpg"), isolation_level="AUTOCOMMIT")
    try:
        async with engine.connect() as connection:
            await connection.run_sync(work)
    finally:
        await engine.dispose()


def inspectdb():
    options = {"options": f"-c search_path={SCHEMA}"}
    settings.configure(DATABASES={"default": {
        "ENGINE": "django.db.backends.postgresql", "NAME": URL.path[1:], "USER": URL.username, "PASSWORD": URL.password,
        "HOST": URL.hostname, "PORT": URL.port, "OPTIONS": options,
    }})
    django.setup()
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed):
        call_command("inspectdb", "--include-views", stdout=printed)
    text = printed.getvalue()
    for line in [
        "class Customers(models.Model):",
        "    id = models.BigIntegerField(primary_key=True",
        "    name = models.TextField(blank=True, null=True",
        "    price = models.DecimalField(max_digits=10, decimal_places=2, blank=True, null=True)",
        "        db_table = 'customers'",
        "class V(models.Model):",
    ]:
        assert line in text, f"{line!r} is missing in {text}"


for name, check in CHECKS.items():
    for driver in ["psycopg", "psycopg2"]:
        attempt(f"SQLAlchemy by {driver}", name, lambda: with_driver(driver, check))
# asyncpg asks for the columns of tables with parameters that have no types, and takes those for texts.
attempt("SQLAlchemy by asyncpg", "ORM with create_all and drop_all", lambda: asyncio.run(with_asyncpg(mapped)))
attempt("Django", "inspectdb", inspectdb)
