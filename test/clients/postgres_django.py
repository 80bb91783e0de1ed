"""Django: a line `part, feature, outcome` for each feature, with tabs.

    postgres_django.py URL

The URL's database has the tables of `test/support/browsed-tables.ts`.
"""

import datetime
import decimal
import io
import sys
import traceback
from urllib.parse import parse_qs, unquote, urlparse

import django
from django.conf import settings

PARTS = urlparse(sys.argv[1])
settings.configure(
    DATABASES={
        "default": {
            "ENGINE": "django.db.backends.postgresql",
            "NAME": PARTS.path[1:],
            "USER": unquote(PARTS.username),
            "PASSWORD": unquote(PARTS.password),
            "HOST": PARTS.hostname,
            "PORT": PARTS.port,
            "OPTIONS": {"options": parse_qs(PARTS.query)["options"][0]},
        }
    },
    INSTALLED_APPS=[],
    USE_TZ=True,
)
django.setup()

from django.core.management import call_command
from django.db import connection, models, transaction


class Author(models.Model):
    key = models.BigIntegerField(primary_key=True)
    name = models.CharField(max_length=200)
    born = models.DateField(null=True)

    class Meta:
        app_label = "shelf"
        db_table = "authors"
        db_table_comment = "who writes"


class Book(models.Model):
    key = models.BigIntegerField(primary_key=True)
    author = models.ForeignKey(Author, models.DO_NOTHING, db_constraint=False, db_index=False)
    title = models.TextField(db_comment="as on the cover")
    price = models.DecimalField(max_digits=10, decimal_places=2, null=True)
    sold_at = models.DateTimeField(null=True)
    is_new = models.BooleanField(default=True)

    class Meta:
        app_label = "shelf"
        db_table = "books"


class Customer(models.Model):
    """A table that was there."""

    id = models.BigIntegerField(primary_key=True)
    full_name = models.TextField()
    credit = models.DecimalField(max_digits=12, decimal_places=2, null=True)

    class Meta:
        app_label = "shelf"
        managed = False
        db_table = "customers"


def same(given, expected):
    assert given == expected, f"{given!r} is not {expected!r}"


def inspected(*names):
    out = io.StringIO()
    call_command("inspectdb", *names, "--include-views", stdout=out)
    return [" ".join(line.split()) for line in out.getvalue().splitlines()]


def inspectdb():
    lines = inspected()
    for line in [
        "class Customers(models.Model):",
        "id = models.BigIntegerField(primary_key=True)",
        "full_name = models.TextField(db_comment='as_written')",
        "credit = models.DecimalField(max_digits=12, decimal_places=2, blank=True, null=True)",
        "born_on = models.DateField(blank=True, null=True)",
        "seen_at = models.DateTimeField(blank=True, null=True)",
        "is_kept = models.BooleanField(blank=True, null=True)",
        "weight = models.FloatField(blank=True, null=True)",
        "children = models.IntegerField(blank=True, null=True)",
        "face = models.BinaryField(blank=True, null=True)",
        "token_of = models.UUIDField(blank=True, null=True)",
        "db_table = 'customers'",
        "db_table_comment = 'who_buys'",
        "class Orders(models.Model):",
        "class OrderNames(models.Model):",
    ]:
        assert line in lines, (line, lines)
    # No table was left out with an error.
    same([line for line in lines if "Unable to inspect" in line], [])


def introspection():
    with connection.cursor() as cursor:
        found = connection.introspection
        same(sorted(found.table_names(cursor)), ["customers", "orders"])
        same(sorted(found.table_names(cursor, include_views=True)), ["customers", "order_names", "orders"])
        same(found.get_primary_key_columns(cursor, "orders"), ["order_id"])
        same(found.get_relations(cursor, "orders"), {})
        same(found.get_sequences(cursor, "orders"), [])
        keys = [name for name, one in found.get_constraints(cursor, "orders").items() if one["primary_key"]]
        same(keys, ["orders_pkey"])


def create():
    with connection.schema_editor(atomic=False) as editor:
        editor.create_model(Author)
        editor.create_model(Book)
    with connection.cursor() as cursor:
        assert {"authors", "books"} <= set(connection.introspection.table_names(cursor))


NOON = datetime.datetime(2024, 2, 29, 12, tzinfo=datetime.timezone.utc)


def write():
    author = Author.objects.create(key=1, name="Öyvind O'Hara", born=datetime.date(1931, 4, 5))
    Book.objects.bulk_create([Book(key=i, author=author, title=f"Part {i}", price=decimal.Decimal(i) / 2, sold_at=NOON) for i in range(1, 6)])
    same(Book.objects.filter(price__gt=1).update(is_new=False), 3)
    same(Book.objects.filter(key=5).delete()[0], 1)
    Customer.objects.create(id=1, full_name="Ann", credit=decimal.Decimal("12.50"))


def read():
    same(Book.objects.count(), 4)
    book = Book.objects.select_related("author").get(key=3)
    same((book.author.name, book.price, book.sold_at, book.is_new), ("Öyvind O'Hara", decimal.Decimal("1.50"), NOON, False))
    same(list(Book.objects.filter(title__icontains="PART", is_new=True).order_by("-key").values_list("key", flat=True)), [2, 1])
    same(Book.objects.aggregate(top=models.Max("price"), of=models.Count("author", distinct=True)), {"top": decimal.Decimal(2), "of": 1})
    same(list(Book.objects.values_list("author__name").annotate(parts=models.Count("key"))), [("Öyvind O'Hara", 4)])
    same(list(Book.objects.filter(sold_at__year=2024).dates("sold_at", "month")), [datetime.date(2024, 2, 1)])
    same(list(Book.objects.order_by("key")[1:3].values_list("key", flat=True)), [2, 3])
    same(Book.objects.filter(author__born__lt=datetime.date(1950, 1, 1)).exists(), True)
    same([one.key for one in Book.objects.order_by("key").iterator(chunk_size=2)], [1, 2, 3, 4])
    same([(one.full_name, one.credit) for one in Customer.objects.all()], [("Ann", decimal.Decimal("12.50"))])


def rolled_back():
    try:
        with transaction.atomic():
            Author.objects.create(key=2, name="Gone")
            with transaction.atomic():
                Author.objects.create(key=3, name="Gone, too")
            raise KeyError
    except KeyError:
        pass
    same(Author.objects.count(), 1)


def drop():
    Customer.objects.all().delete()
    with connection.schema_editor(atomic=False) as editor:
        editor.delete_model(Book)
        editor.delete_model(Author)
    with connection.cursor() as cursor:
        same(sorted(connection.introspection.table_names(cursor)), ["customers", "orders"])


FEATURES = {
    "inspectdb": inspectdb,
    "introspection": introspection,
    "tables by the schema editor": create,
    "ORM: insert, update, delete": write,
    "ORM: query": read,
    "ORM: rollback": rolled_back,
    "drop": drop,
}

for feature, work in FEATURES.items():
    try:
        work()
        outcome = "ok"
    except BaseException as error:
        place = next(one.lineno for one in reversed(traceback.extract_tb(error.__traceback__)) if one.filename == __file__)
        outcome = f"line {place}: " + " ".join(str(error).split())[:800]
    print("Django", feature, outcome, sep="\t", flush=True)
