import static org.jooq.impl.DSL.condition;
import static org.jooq.impl.DSL.count;
import static org.jooq.impl.DSL.field;
import static org.jooq.impl.DSL.max;
import static org.jooq.impl.DSL.name;
import static org.jooq.impl.DSL.row;
import static org.jooq.impl.DSL.rowNumber;
import static org.jooq.impl.DSL.select;
import static org.jooq.impl.DSL.selectOne;
import static org.jooq.impl.DSL.table;

import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeSet;
import java.util.UUID;
import org.jooq.Cursor;
import org.jooq.DSLContext;
import org.jooq.Field;
import org.jooq.Record;
import org.jooq.SQLDialect;
import org.jooq.Table;
import org.jooq.codegen.GenerationTool;
import org.jooq.codegen.JavaGenerator;
import org.jooq.exception.DataAccessException;
import org.jooq.impl.DSL;
import org.jooq.impl.SQLDataType;
import org.jooq.meta.ColumnDefinition;
import org.jooq.meta.Database;
import org.jooq.meta.Definition;
import org.jooq.meta.SchemaDefinition;
import org.jooq.meta.TableDefinition;
import org.jooq.meta.jaxb.Configuration;
import org.jooq.meta.jaxb.Generate;
import org.jooq.meta.jaxb.Generator;
import org.jooq.meta.jaxb.OnError;
import org.jooq.meta.jaxb.SchemaMappingType;
import org.jooq.meta.jaxb.Target;

/**
 * jOOQ over the tables of {@code test/support/browsed-tables.ts}: a line {@code jOOQ, feature, outcome} for each feature, with tabs. Arguments:
 * URL, user, password, a folder for the code that its generator makes.
 */
public final class PostgresJooq {
  private interface Feature {
    void run(DSLContext jooq) throws Exception;
  }

  private static final Table<Record> CUSTOMERS = table(name("public", "customers"));
  private static final Field<Long> ID = field(name("id"), SQLDataType.BIGINT);
  private static final Field<String> NAME = field(name("full_name"), SQLDataType.CLOB);
  private static final Field<BigDecimal> CREDIT = field(name("credit"), SQLDataType.NUMERIC(12, 2));
  private static final Field<LocalDate> BORN = field(name("born_on"), SQLDataType.LOCALDATE);
  private static final Field<LocalDateTime> SEEN = field(name("seen_at"), SQLDataType.LOCALDATETIME);
  private static final Field<OffsetDateTime> WOKEN = field(name("woken_at"), SQLDataType.OFFSETDATETIME);
  private static final Field<Boolean> KEPT = field(name("is_kept"), SQLDataType.BOOLEAN);
  private static final Field<byte[]> FACE = field(name("face"), SQLDataType.BLOB);
  private static final Field<UUID> TOKEN = field(name("token_of"), SQLDataType.UUID);
  private static final Field<String[]> LABELS = field(name("labels"), SQLDataType.CLOB.getArrayDataType());
  private static final Field<Integer[]> SCORES = field(name("scores"), SQLDataType.INTEGER.getArrayDataType());
  private static final Table<Record> PURCHASES = table(name("public", "orders"));
  private static final Field<Long> PURCHASE = field(name("order_id"), SQLDataType.BIGINT);
  private static final Field<Long> BUYER = field(name("customer_id"), SQLDataType.BIGINT);

  private static String[] arguments;
  /** What the generator's own database class, PostgresDatabase, has found. */
  private static final Map<String, List<String>> FOUND = new LinkedHashMap<>();

  public static void main(String[] args) {
    arguments = args;
    Map<String, Feature> features = new LinkedHashMap<>();
    features.put("generator", PostgresJooq::generator);
    features.put("schemata, tables, views", PostgresJooq::lists);
    features.put("columns", PostgresJooq::columns);
    features.put("primary keys", PostgresJooq::keys);
    features.put("what does not exist", PostgresJooq::nothing);
    features.put("meta()", PostgresJooq::meta);
    features.put("insert, every type", PostgresJooq::insert);
    features.put("queries", PostgresJooq::queries);
    features.put("update and delete", PostgresJooq::change);
    features.put("transactions", PostgresJooq::transactions);
    features.put("batches", PostgresJooq::batches);
    features.put("cursors", PostgresJooq::cursors);
    features.put("upsert", PostgresJooq::upsert);
    features.put("multiset", PostgresJooq::multiset);
    features.put("create, alter, drop", PostgresJooq::tables);
    features.forEach((feature, work) -> {
      String outcome = "ok";
      try (Connection connection = connect()) {
        work.run(DSL.using(connection, SQLDialect.POSTGRES));
      } catch (Throwable error) {
        outcome = shown(error);
      }
      System.out.println("jOOQ\t" + feature + "\t" + outcome);
    });
  }

  private static Connection connect() throws Exception {
    return DriverManager.getConnection(arguments[0], arguments[1], arguments[2]);
  }

  private static String shown(Throwable error) {
    StringBuilder text = new StringBuilder();
    for (Throwable one = error; one != null; one = one.getCause()) text.append(one).append(' ');
    StackTraceElement place = Arrays.stream(error.getStackTrace()).filter(one -> one.getClassName().startsWith("PostgresJooq")).findFirst().orElse(null);
    return (place + ": " + text).replaceAll("\\s+", " ");
  }

  private static void same(Object given, Object expected) {
    if (!Objects.deepEquals(given, expected)) throw new AssertionError(Arrays.deepToString(new Object[] {given}) + " is not " + Arrays.deepToString(new Object[] {expected}));
  }

  /** The usual generator, which keeps what its database has found. */
  public static final class Kept extends JavaGenerator {
    @Override
    public void generate(Database database) {
      FOUND.put("schemata", names(database.getSchemata()));
      List<String> keys = new ArrayList<>();
      List<String> nothing = new ArrayList<>();
      for (SchemaDefinition schema : database.getSchemata()) {
        FOUND.put(schema.getName(), names(database.getTables(schema)));
        for (TableDefinition table : database.getTables(schema)) {
          FOUND.put("columns of " + table.getName(), table.getColumns().stream().map(Kept::column).toList());
          FOUND.put("comment on " + table.getName(), List.of(table.getComment()));
          FOUND.put("kind of " + table.getName(), List.of(String.valueOf(table.isView())));
          if (table.getPrimaryKey() != null) keys.add(table.getPrimaryKey().getName() + " " + names(table.getPrimaryKey().getKeyColumns()));
        }
        nothing.addAll(names(database.getSequences(schema)));
        nothing.addAll(names(database.getRoutines(schema)));
        nothing.addAll(names(database.getUDTs(schema)));
        nothing.addAll(names(database.getEnums(schema)));
        nothing.addAll(names(database.getDomains(schema)));
        nothing.addAll(names(database.getIndexes(schema)));
        nothing.addAll(names(database.getForeignKeys(schema)));
        nothing.addAll(names(database.getIdentities(schema)));
        nothing.addAll(names(database.getCheckConstraints(schema)));
      }
      FOUND.put("keys", keys);
      FOUND.put("nothing", nothing);
      super.generate(database);
    }

    private static List<String> names(List<? extends Definition> found) {
      return found.stream().map(Definition::getName).toList();
    }

    private static String column(ColumnDefinition column) {
      var type = column.getDefinedType();
      String digits = type.getPrecision() > 0 && type.getType().equals("numeric") ? "(" + type.getPrecision() + "," + type.getScale() + ")" : "";
      String comment = column.getComment() == null || column.getComment().isEmpty() ? "" : " -- " + column.getComment();
      return column.getName() + " " + type.getType() + digits + (type.isNullable() ? "" : " NOT NULL") + comment;
    }
  }

  private static void generator(DSLContext jooq) throws Exception {
    GenerationTool tool = new GenerationTool();
    try (Connection connection = connect()) {
      tool.setConnection(connection);
      tool.run(new Configuration()
        .withOnError(OnError.FAIL)
        .withGenerator(new Generator()
          .withName(Kept.class.getName())
          .withDatabase(new org.jooq.meta.jaxb.Database()
            .withName("org.jooq.meta.postgres.PostgresDatabase")
            .withIncludes(".*")
            .withIncludeSystemTables(false)
            .withSchemata(new SchemaMappingType().withInputSchema("public"), new SchemaMappingType().withInputSchema("other")))
          .withGenerate(new Generate().withDaos(true).withComments(true).withGeneratedAnnotation(false).withSourcesOnViews(false))
          .withTarget(new Target().withPackageName("tables").withDirectory(arguments[3]))));
    }
    try (var files = Files.walk(Path.of(arguments[3]))) {
      List<String> made = files.map(one -> one.getFileName().toString()).toList();
      for (String expected : List.of("Customers.java", "Orders.java", "OrderNames.java", "T.java", "Keys.java", "CustomersDao.java")) {
        same(made.contains(expected), true);
      }
    }
  }

  private static void lists(DSLContext jooq) {
    same(new TreeSet<>(FOUND.get("schemata")), new TreeSet<>(List.of("public", "other")));
    same(FOUND.get("public"), List.of("customers", "order_names", "orders"));
    same(FOUND.get("other"), List.of("t"));
    same(FOUND.get("comment on customers"), List.of("who_buys"));
    same(FOUND.get("kind of customers"), List.of("false"));
    same(FOUND.get("kind of order_names"), List.of("true"));
  }

  private static void columns(DSLContext jooq) {
    same(FOUND.get("columns of customers"), List.of(
      "id bigint NOT NULL", "full_name text NOT NULL -- as_written", "credit numeric(12,2)", "born_on date", "seen_at timestamp without time zone",
      "woken_at timestamp with time zone", "is_kept boolean", "height real", "weight double precision", "children integer", "face bytea", "token_of uuid",
      "labels text ARRAY", "scores int4 ARRAY"));
    same(FOUND.get("columns of order_names"), List.of("order_id bigint", "full_name text"));
    same(FOUND.get("columns of t"), List.of("part_id integer NOT NULL", "piece_id integer NOT NULL", "weight_of numeric(9,3)"));
  }

  private static void keys(DSLContext jooq) {
    same(new TreeSet<>(FOUND.get("keys")), new TreeSet<>(List.of("customers_pkey [id]", "orders_pkey [order_id]", "t_pkey [part_id, piece_id]")));
  }

  private static void nothing(DSLContext jooq) {
    same(FOUND.get("nothing"), List.of());
  }

  /** By pgjdbc's DatabaseMetaData. */
  private static void meta(DSLContext jooq) {
    Table<?> found = jooq.meta().getSchemas("public").get(0).getTable("customers");
    same(found.getPrimaryKey().getFields().stream().map(Field::getName).toList(), List.of("id"));
    same(found.field("credit").getDataType().precision(), 12);
    same(found.field("labels").getType(), String[].class);
    same(jooq.meta().getSchemas("other").get(0).getTables().stream().map(Table::getName).toList(), List.of("t"));
  }

  private static final Object[] VALUES = {
    new BigDecimal("-9999999999.99"), LocalDate.of(1931, 4, 5), LocalDateTime.of(2024, 2, 29, 12, 34, 56, 123456000),
    OffsetDateTime.parse("1969-07-20T20:17:40.123456Z"), true, new byte[] {0, -1, 39, 92}, new UUID(7, -1), new String[] {"a", "b,c", "", "x\"\\"}, new Integer[] {1, null, -3}
  };

  private static void insert(DSLContext jooq) {
    jooq.deleteFrom(PURCHASES).execute();
    jooq.deleteFrom(CUSTOMERS).execute();
    Field<?>[] fields = {CREDIT, BORN, SEEN, WOKEN, KEPT, FACE, TOKEN, LABELS, SCORES};
    Map<Field<?>, Object> values = new LinkedHashMap<>();
    for (int i = 0; i < fields.length; i += 1) values.put(fields[i], VALUES[i]);
    same(jooq.insertInto(CUSTOMERS).set(ID, 1L).set(NAME, "Öyvind O'Hara \\ \"x\"").set(values).execute(), 1);
    same(jooq.insertInto(CUSTOMERS, ID, NAME).values(2L, "Nobody").values(3L, "Somebody").returning(ID).fetch(ID), List.of(2L, 3L));
    same(jooq.insertInto(PURCHASES, PURCHASE, BUYER).values(10L, 1L).values(11L, 1L).values(12L, 2L).execute(), 3);
    Record found = jooq.select(fields).from(CUSTOMERS).where(ID.eq(1L)).fetchOne();
    for (int i = 0; i < fields.length; i += 1) {
      Object value = found.get(i);
      same(value instanceof OffsetDateTime time ? time.toInstant() : value, VALUES[i] instanceof OffsetDateTime time ? time.toInstant() : VALUES[i]);
    }
    same(jooq.select(fields).from(CUSTOMERS).where(ID.eq(2L)).fetchOne().intoArray(), new Object[fields.length]);
  }

  private static void queries(DSLContext jooq) {
    Table<?> c = CUSTOMERS.as("c");
    Table<?> p = PURCHASES.as("p");
    Field<Long> id = field(name("c", "id"), Long.class);
    Field<String> full = field(name("c", "full_name"), String.class);
    Field<Long> bought = field(name("p", "order_id"), Long.class);
    var found = jooq.select(full, count(bought), max(bought)).from(c).leftJoin(p).on(field(name("p", "customer_id"), Long.class).eq(id))
      .where(full.like("%body%").or(id.in(1L, 99L))).groupBy(full).having(count(bought).gt(0)).orderBy(count(bought).desc(), full).limit(5).offset(0).fetch();
    same(found.intoArrays(), new Object[][] {{"Öyvind O'Hara \\ \"x\"", 2, 11L}, {"Nobody", 1, 12L}});
    same(jooq.selectFrom(CUSTOMERS).orderBy(ID.asc()).fetch(NAME).size(), 3);
    same(jooq.fetchCount(CUSTOMERS, KEPT.isTrue().or(NAME.containsIgnoreCase("SOME"))), 2);
    same(jooq.fetchExists(selectOne().from(CUSTOMERS).where(ID.eq(99L))), false);
    same(jooq.select(ID).from(CUSTOMERS).where(row(ID, NAME).in(row(2L, "Nobody"), row(3L, "x"))).fetch(ID), List.of(2L));
    same(jooq.with("first").as(select(BUYER, PURCHASE, rowNumber().over().partitionBy(BUYER).orderBy(PURCHASE.desc()).as("n")).from(PURCHASES))
      .select(field(name("order_id"), Long.class)).from(table(name("first"))).where(field(name("n"), Integer.class).eq(1)).orderBy(1).fetch(0, Long.class), List.of(11L, 12L));
    same(jooq.select(ID).from(CUSTOMERS).union(select(PURCHASE).from(PURCHASES)).orderBy(1).fetch(0, Long.class), List.of(1L, 2L, 3L, 10L, 11L, 12L));
    same(jooq.select(DSL.listAgg(field(name("full_name"), String.class), ",").withinGroupOrderBy(ID)).from(CUSTOMERS).where(ID.gt(1L)).fetchOne(0), "Nobody,Somebody");
    same(jooq.select(DSL.currentDate(), DSL.currentTimestamp()).fetch().size(), 1);
    same(jooq.select(field(name("full_name"))).from(table(name("public", "order_names"))).where(condition("order_id = ?", 12L)).fetchOne(0), "Nobody");
    try {
      jooq.select(field("no_such")).from(CUSTOMERS).fetch();
      throw new AssertionError("it was taken");
    } catch (DataAccessException error) {
      same(error.sqlState(), "42703");
    }
  }

  private static void change(DSLContext jooq) {
    same(jooq.update(CUSTOMERS).set(NAME, NAME.concat("!")).set(LABELS, new String[] {}).where(ID.le(2L)).execute(), 2);
    same(jooq.update(CUSTOMERS).set(NAME, "x").where(ID.eq(3L)).returningResult(ID, NAME).fetch().intoArrays(), new Object[][] {{3L, "x"}});
    same(jooq.select(NAME).from(CUSTOMERS).where(ID.eq(2L)).fetchOne(NAME), "Nobody!");
    same(jooq.deleteFrom(CUSTOMERS).where(ID.eq(3L)).execute(), 1);
  }

  private static void transactions(DSLContext jooq) {
    jooq.transaction(one -> {
      one.dsl().insertInto(CUSTOMERS, ID, NAME).values(4L, "kept").execute();
      try {
        // A transaction within one is a savepoint.
        one.dsl().transaction(inner -> {
          inner.dsl().insertInto(CUSTOMERS, ID, NAME).values(5L, "gone").execute();
          throw new IllegalStateException("enough");
        });
      } catch (IllegalStateException expected) {
        same(expected.getMessage(), "enough");
      }
    });
    same(jooq.select(ID).from(CUSTOMERS).where(ID.gt(3L)).fetch(ID), List.of(4L));
    try {
      jooq.transaction(one -> {
        one.dsl().deleteFrom(CUSTOMERS).execute();
        throw new IllegalStateException("enough");
      });
    } catch (IllegalStateException expected) {
      same(expected.getMessage(), "enough");
    }
    same(jooq.fetchCount(CUSTOMERS), 3);
  }

  private static void batches(DSLContext jooq) {
    var batch = jooq.batch(jooq.insertInto(CUSTOMERS, ID, NAME).values((Long) null, null));
    for (long i = 1000; i < 1100; i += 1) batch = batch.bind(i, "c" + i);
    same(Arrays.stream(batch.execute()).sum(), 100);
    same(jooq.deleteFrom(CUSTOMERS).where(ID.ge(1000L)).execute(), 100);
  }

  private static void cursors(DSLContext jooq) {
    jooq.transaction(one -> {
      List<Long> found = new ArrayList<>();
      try (Cursor<?> cursor = one.dsl().select(PURCHASE).from(PURCHASES).orderBy(PURCHASE).fetchSize(1).fetchLazy()) {
        for (Record next : cursor) found.add(next.get(PURCHASE));
      }
      same(found, List.of(10L, 11L, 12L));
    });
  }

  private static void upsert(DSLContext jooq) {
    jooq.insertInto(CUSTOMERS, ID, NAME).values(4L, "again").onConflict(ID).doUpdate().set(NAME, DSL.excluded(NAME)).execute();
    same(jooq.select(NAME).from(CUSTOMERS).where(ID.eq(4L)).fetchOne(NAME), "again");
  }

  private static void multiset(DSLContext jooq) {
    var found = jooq.select(ID, DSL.multiset(select(PURCHASE).from(PURCHASES).where(BUYER.eq(field(name("public", "customers", "id"), Long.class))).orderBy(PURCHASE)))
      .from(CUSTOMERS).where(ID.eq(1L)).fetchOne();
    same(found.value2().intoArrays(), new Object[][] {{10L}, {11L}});
  }

  private static void tables(DSLContext jooq) {
    Table<Record> made = table(name("other", "made"));
    jooq.createTable(made).column(ID, SQLDataType.BIGINT.notNull()).column(NAME, SQLDataType.VARCHAR(20)).primaryKey(ID).execute();
    jooq.createTableIfNotExists(made).column(ID, SQLDataType.BIGINT.notNull()).execute();
    jooq.alterTable(made).addColumn("later", SQLDataType.TIMESTAMP).execute();
    jooq.commentOnTable(made).is("made by jOOQ").execute();
    same(jooq.insertInto(made, ID, NAME).values(1L, "x").execute(), 1);
    jooq.createView(name("other", "seen")).as(select(ID).from(made)).execute();
    same(jooq.select(ID).from(table(name("other", "seen"))).fetch(ID), List.of(1L));
    jooq.dropView(name("other", "seen")).execute();
    jooq.truncate(made).execute();
    same(jooq.fetchCount(made), 0);
    jooq.dropTable(made).execute();
    jooq.dropTableIfExists(made).execute();
  }
}
