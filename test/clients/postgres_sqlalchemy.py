"""SQLAlchemy over psycopg 3, psycopg 2 and asyncpg: a line `driver, feature, outcome` for each, with tabs.

    postgres_sqlalchemy.py URL

The URL's database has the tables of `test/support/browsed-tables.ts`.
"""

import asyncio
import datetime
import decimal
import sys
import traceback
from urllib.parse import parse_qs, urlparse

import sqlalchemy
from sqlalchemy import Column, ForeignKey, MetaData, Table, inspect, select
from sqlalchemy.ext.asyncio import AsyncSession, create_async_engine
from sqlalchemy.orm import DeclarativeBase, Mapped, Session, mapped_column, relationship
from sqlalchemy.types import ARRAY, BIGINT, BOOLEAN, DATE, INTEGER, NUMERIC, TEXT, TIMESTAMP, UUID

URL = sys.argv[1].replace("postgres://", "postgresql://", 1)
NAME = urlparse(URL).path[1:]


def shown(error):
    """The place in this file, and what is said."""
    place = next(one.lineno for one in reversed(traceback.extract_tb(error.__traceback__)) if one.filename == __file__)
    return f"line {place}: " + " ".join(str(error).split())[:800]


def same(given, expected):
    assert given == expected, f"{given!r} is not {expected!r}"


class Base(DeclarativeBase):
    pass


class Author(Base):
    __tablename__ = "authors"
    __table_args__ = {"schema": "other", "comment": "who writes"}
    id: Mapped[int] = mapped_column(BIGINT, primary_key=True, autoincrement=False)
    name: Mapped[str] = mapped_column(TEXT, comment="as on the cover")
    born: Mapped[datetime.date | None] = mapped_column(DATE)
    books: Mapped[list["Book"]] = relationship(back_populates="author", order_by="Book.id", primaryjoin="Author.id == foreign(Book.author_id)")


class Book(Base):
    __tablename__ = "books"
    __table_args__ = {"schema": "other"}
    id: Mapped[int] = mapped_column(BIGINT, primary_key=True, autoincrement=False)
    author_id: Mapped[int] = mapped_column(BIGINT)
    title: Mapped[str] = mapped_column(TEXT)
    price: Mapped[decimal.Decimal | None] = mapped_column(NUMERIC(10, 2))
    tags: Mapped[list[str] | None] = mapped_column(ARRAY(TEXT))
    author: Mapped[Author] = relationship(back_populates="books", primaryjoin="Author.id == foreign(Book.author_id)")


def inspector(connection):
    found = inspect(connection)
    names = found.get_schema_names()
    assert {"public", "other"} <= set(names), names
    same(found.default_schema_name, "public")
    same(sorted(found.get_table_names()), ["customers", "orders"])
    same(found.get_table_names(schema="other"), ["t"])
    same(found.get_view_names(), ["order_names"])
    same(found.has_table("customers"), True)
    same(found.has_table("customers", schema="other"), False)
    same(found.get_pk_constraint("t", schema="other")["constrained_columns"], ["part_id", "piece_id"])
    same(found.get_pk_constraint("customers")["name"], "customers_pkey")
    same(found.get_table_comment("customers"), {"text": "who_buys"})
    same(found.get_foreign_keys("orders"), [])
    same(found.get_indexes("orders"), [])
    same(found.get_unique_constraints("orders"), [])
    same(found.get_check_constraints("orders"), [])
    columns = {one["name"]: one for one in found.get_columns("customers")}
    same(columns["full_name"]["comment"], "as_written")
    same((columns["full_name"]["nullable"], columns["born_on"]["nullable"]), (False, True))
    types = {name: str(one["type"]) for name, one in columns.items()}
    same(
        types,
        {
            "id": "BIGINT",
            "full_name": "TEXT",
            "credit": "NUMERIC(12, 2)",
            "born_on": "DATE",
            "seen_at": "TIMESTAMP",
            "woken_at": "TIMESTAMP",
            "is_kept": "BOOLEAN",
            "height": "REAL",
            "weight": "DOUBLE PRECISION",
            "children": "INTEGER",
            "face": "BYTEA",
            "token_of": "UUID",
            "labels": "ARRAY",
            "scores": "ARRAY",
        },
    )
    same(columns["woken_at"]["type"].timezone, True)
    same([str(columns[name]["type"].item_type) for name in ("labels", "scores")], ["TEXT", "INTEGER"])
    same([one["name"] for one in found.get_columns("order_names")], ["order_id", "full_name"])
    many = found.get_multi_columns(schema="other")
    same([one["name"] for one in many[("other", "t")]], ["part_id", "piece_id", "weight_of"])
    assert "full_name" in found.get_view_definition("order_names"), "the view's query"


def reflect(connection):
    data = MetaData()
    data.reflect(connection, views=True)
    data.reflect(connection, schema="other")
    same(sorted(data.tables), ["customers", "order_names", "orders", "other.t"])
    same([one.name for one in data.tables["other.t"].primary_key.columns], ["part_id", "piece_id"])
    same(data.tables["customers"].comment, "who_buys")
    same(connection.execute(select(data.tables["customers"].c.id)).all(), [])


def create(connection):
    Base.metadata.drop_all(connection)
    Base.metadata.create_all(connection)
    # What is there is not made again.
    Base.metadata.create_all(connection)
    same(inspect(connection).get_table_comment("authors", schema="other"), {"text": "who writes"})


def write(session):
    first = Author(id=1, name="Öyvind O'Hara", born=datetime.date(1931, 4, 5))
    first.books = [
        Book(id=1, title="One", price=decimal.Decimal("12.50"), tags=["a", "b,c"]),
        Book(id=2, title="Two \\ two", price=None, tags=None),
    ]
    session.add_all([first, Author(id=2, name="Nobody", born=None)])


def change(session):
    book = session.get(Book, 2)
    book.title = "Two"
    session.delete(session.get(Author, 2))


QUERY = (
    select(Author.name, sqlalchemy.func.count(Book.id), sqlalchemy.func.max(Book.price))
    .join(Book, Book.author_id == Author.id, isouter=True)
    .where(Author.name.like("%Hara%"), Author.id.in_([1, 2, 3]))
    .group_by(Author.name)
    .order_by(Author.name)
    .limit(5)
)


def read(session):
    same(session.execute(QUERY).all(), [("Öyvind O'Hara", 2, decimal.Decimal("12.50"))])
    author = session.scalars(select(Author)).one()
    same([(one.title, one.price, one.tags) for one in author.books], [("One", decimal.Decimal("12.50"), ["a", "b,c"]), ("Two", None, None)])
    same(session.scalars(select(Book.title).order_by(Book.id.desc()).offset(1)).all(), ["One"])


def rolled_back(session):
    session.add(Author(id=9, name="Gone", born=None))
    session.flush()
    same(session.scalar(select(sqlalchemy.func.count()).select_from(Author)), 2)
    session.rollback()
    same(session.scalar(select(sqlalchemy.func.count()).select_from(Author)), 1)


def drop(connection):
    Base.metadata.drop_all(connection)
    same(inspect(connection).get_table_names(schema="other"), ["t"])


#: Those of connections have AUTOCOMMIT, because a table is no part of a transaction; those of sessions are transactions.
FEATURES = {
    "inspector": (inspector, "connection"),
    "reflect": (reflect, "connection"),
    "create_all": (create, "connection"),
    "ORM: insert": (write, "session"),
    "ORM: update and delete": (change, "session"),
    "ORM: query": (read, "session"),
    "ORM: rollback": (rolled_back, "session"),
    "drop_all": (drop, "connection"),
}


def told(driver, feature, work):
    try:
        work()
        outcome = "ok"
    except BaseException as error:
        outcome = shown(error)
    print(driver, feature, outcome, sep="\t", flush=True)


def with_engine(driver):
    engine = sqlalchemy.create_engine(URL.replace("://", f"+{driver}://", 1))
    for feature, (work, place) in FEATURES.items():

        def run():
            if place == "connection":
                with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
                    work(connection)
            else:
                with Session(engine) as session:
                    work(session)
                    session.commit()

        told(driver, feature, run)


def with_async_engine():
    parts = urlparse(URL)
    plain = parts._replace(scheme="postgresql+asyncpg", query="").geturl()
    # asyncpg has no `options`.
    options = parse_qs(parts.query).get("options", [""])[0]
    settings = dict(one.split("=", 1) for one in options.split() if "=" in one)
    engine = create_async_engine(plain, connect_args={"server_settings": settings})

    async def run(work, place):
        if place == "connection":
            async with engine.execution_options(isolation_level="AUTOCOMMIT").connect() as connection:
                await connection.run_sync(work)
        else:
            async with AsyncSession(engine) as session:
                await session.run_sync(lambda own: (work(own), own.commit()))

    async def main():
        for feature, (work, place) in FEATURES.items():
            try:
                await run(work, place)
                outcome = "ok"
            except BaseException as error:
                outcome = shown(error)
            print("asyncpg", feature, outcome, sep="\t", flush=True)

    asyncio.run(main())


with_engine("psycopg")
with_engine("psycopg2")
with_async_engine()
