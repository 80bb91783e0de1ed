import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.sql.BatchUpdateException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.sql.Types;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.OffsetDateTime;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Timer;
import java.util.TimerTask;
import java.util.UUID;
import org.postgresql.PGConnection;
import org.postgresql.PGResultSetMetaData;
import org.postgresql.copy.CopyManager;
import org.postgresql.util.PSQLException;

/** Each feature of the Postgres wire by pgjdbc: a line {@code feature, outcome} for each, with a tab. Arguments: URL, user, password. */
public final class PostgresJdbc {
  private interface Feature {
    void run(Connection connection) throws Exception;
  }

  private static final String SLOW = "SELECT count(*) FROM range(3000000000) a(i), range(1000) b(j) WHERE hash(i + j) = 1";
  private static final int COUNT = 1000;
  private static String url;
  private static String user;
  private static String password;
  private static int tables = 0;

  public static void main(String[] args) throws Exception {
    url = args[0];
    user = args[1];
    password = args[2];
    Map<String, Feature> features = new LinkedHashMap<>();
    features.put("sign in", connection -> fails("28P01", () -> DriverManager.getConnection(url, user, "wrong")));
    features.put("queries", PostgresJdbc::queries);
    features.put("parameters", PostgresJdbc::parameters);
    features.put("every type, with edge values and NULL", PostgresJdbc::everyType);
    features.put("many bound rows", PostgresJdbc::batches);
    features.put("COPY TO STDOUT", PostgresJdbc::copyOut);
    features.put("COPY FROM STDIN", PostgresJdbc::copyIn);
    features.put("transactions and savepoints", PostgresJdbc::transactions);
    features.put("cursors", PostgresJdbc::fetchSize);
    features.put("errors with SQLSTATE and place", PostgresJdbc::errors);
    features.put("cancel", PostgresJdbc::cancel);
    try (Connection first = connect("")) {
      first.createStatement().execute("CREATE SCHEMA IF NOT EXISTS lake.drivers");
    }
    for (Map.Entry<String, Feature> feature : features.entrySet()) {
      String outcome = "ok";
      try (Connection connection = connect("")) {
        connection.createStatement().execute("USE lake.drivers");
        feature.getValue().run(connection);
      } catch (Throwable error) {
        outcome = (error + " " + Arrays.toString(Arrays.copyOf(error.getStackTrace(), 4))).replaceAll("\\s+", " ");
      }
      System.out.println(feature.getKey() + "\t" + outcome);
    }
  }

  private static Connection connect(String options) throws SQLException {
    return DriverManager.getConnection(url + options, user, password);
  }

  private static void queries(Connection connection) throws Exception {
    // From the fifth execution on, values come in binary.
    try (PreparedStatement statement = connection.prepareStatement("SELECT i, 'v' || i, i / 2 FROM range(3) r(i) ORDER BY i")) {
      for (int time = 0; time < 8; time += 1) {
        try (ResultSet rows = statement.executeQuery()) {
          for (long i = 0; i < 3; i += 1) {
            rows.next();
            same(rows.getLong(1), i);
            same(rows.getString(2), "v" + i);
            same(rows.getDouble(3), i / 2.0);
          }
          same(rows.next(), false);
        }
      }
    }
  }

  private static void parameters(Connection connection) throws Exception {
    try (PreparedStatement statement = connection.prepareStatement("SELECT n_name FROM lake.tpch.nation WHERE n_nationkey = ? AND n_name = ?")) {
      for (int time = 0; time < 8; time += 1) {
        statement.setInt(1, 7);
        statement.setString(2, "GERMANY");
        try (ResultSet rows = statement.executeQuery()) {
          rows.next();
          same(rows.getString(1), "GERMANY");
        }
      }
    }
  }

  private static void everyType(Connection connection) throws Exception {
    String name = table(connection, "k INTEGER, b BOOLEAN, i2 SMALLINT, i8 BIGINT, f REAL, d DOUBLE PRECISION, n NUMERIC(18,4), t TEXT, raw BYTEA, dt DATE, tm TIME, ts TIMESTAMP, tz TIMESTAMPTZ, u UUID, l INTEGER[], tl TEXT[]");
    Object[][] rows = {
      {1, true, (short) -32768, Long.MIN_VALUE, Float.NEGATIVE_INFINITY, 5e-324, new BigDecimal("-99999999999999.9999"), "", new byte[0], LocalDate.of(1, 1, 1), LocalTime.of(0, 0), LocalDateTime.of(1, 1, 1, 0, 0), OffsetDateTime.parse("1969-07-20T20:17:40.123456Z"), new UUID(0, 0), new Integer[] {}, new String[] {"a", "b,c", "", "x\"\\"}},
      {2, false, (short) 32767, Long.MAX_VALUE, 0.5f, 0.1, new BigDecimal("0.0001"), "ä€\tx'y\"\\", new byte[] {0, -1, 39, 92}, LocalDate.of(9999, 12, 31), LocalTime.of(23, 59, 59, 999999000), LocalDateTime.of(2024, 2, 29, 12, 34, 56, 123456000), OffsetDateTime.parse("2024-02-29T00:00:00Z"), new UUID(-1, -1), new Integer[] {1, null, -3}, new String[] {null}},
      {3, null, null, null, null, null, null, null, null, null, null, null, null, null, null, null},
    };
    int[] nulls = {Types.INTEGER, Types.BOOLEAN, Types.SMALLINT, Types.BIGINT, Types.REAL, Types.DOUBLE, Types.NUMERIC, Types.VARCHAR, Types.BINARY, Types.DATE, Types.TIME, Types.TIMESTAMP, Types.TIMESTAMP_WITH_TIMEZONE, Types.OTHER, Types.ARRAY, Types.ARRAY};
    try (PreparedStatement insert = connection.prepareStatement("INSERT INTO " + name + " VALUES (" + "?, ".repeat(15) + "?)")) {
      for (Object[] row : rows) {
        for (int i = 0; i < row.length; i += 1) {
          if (row[i] == null) insert.setNull(i + 1, nulls[i]);
          else if (row[i] instanceof Integer[] list) insert.setArray(i + 1, connection.createArrayOf("int4", list));
          else if (row[i] instanceof String[] list) insert.setArray(i + 1, connection.createArrayOf("text", list));
          else insert.setObject(i + 1, row[i]);
        }
        insert.executeUpdate();
      }
    }
    Class<?>[] temporal = {null, null, null, null, null, null, null, null, null, LocalDate.class, LocalTime.class, LocalDateTime.class, OffsetDateTime.class, null, null, null};
    try (PreparedStatement select = connection.prepareStatement("SELECT * FROM " + name + " ORDER BY k")) {
      for (int time = 0; time < 7; time += 1) {
        try (ResultSet found = select.executeQuery()) {
          for (Object[] row : rows) {
            found.next();
            for (int i = 0; i < row.length; i += 1) {
              Object value = temporal[i] == null ? found.getObject(i + 1) : found.getObject(i + 1, temporal[i]);
              Object expected = row[i] instanceof Short number ? (Object) number.intValue() : row[i];
              if (value instanceof java.sql.Array array) value = array.getArray();
              if (!Arrays.deepEquals(new Object[] {value}, new Object[] {expected})) throw new AssertionError("column " + (i + 1) + ", time " + time + ": " + value + " is not " + expected);
            }
          }
        }
      }
    }
    try (ResultSet wide = connection.createStatement().executeQuery("SELECT 12345678901234567890.0123456789::DECIMAL(38,10), MAP {'k': 0.5::DOUBLE}, {'x': 0.5::DOUBLE, 'y': ['a', NULL]}")) {
      wide.next();
      same(wide.getBigDecimal(1), new BigDecimal("12345678901234567890.0123456789"));
      same(wide.getString(2), "{\"k\":0.5}");
      same(wide.getString(3), "{\"x\":0.5,\"y\":[\"a\",null]}");
    }
    // The table of a column, by its number in the description of the result.
    try (PreparedStatement select = connection.prepareStatement("SELECT t AS u, k + 1 FROM " + name + " WHERE false")) {
      same(select.getMetaData().getTableName(1), name);
      same(((PGResultSetMetaData) select.getMetaData()).getBaseColumnName(1), "t");
      same(select.getMetaData().getTableName(2), "");
    }
  }

  private static void batches(Connection connection) throws Exception {
    String name = table(connection, "i INTEGER, t TEXT");
    try (PreparedStatement insert = connection.prepareStatement("INSERT INTO " + name + " VALUES (?, ?)")) {
      for (int i = 0; i < COUNT; i += 1) {
        insert.setInt(1, i);
        insert.setString(2, "v" + i);
        insert.addBatch();
      }
      same(Arrays.stream(insert.executeBatch()).sum(), COUNT);
    }
    same(number(connection, "SELECT count(DISTINCT t) FROM " + name), (long) COUNT);
    // Another batch, of which a row is wrong: none of it stays.
    connection.setAutoCommit(false);
    try (PreparedStatement insert = connection.prepareStatement("INSERT INTO " + name + " VALUES (?, CAST(? AS DATE))")) {
      for (String text : new String[] {"2024-01-01", "no date"}) {
        insert.setInt(1, 1);
        insert.setString(2, text);
        insert.addBatch();
      }
      insert.executeBatch();
      throw new AssertionError("a wrong row is taken");
    } catch (BatchUpdateException error) {
      same(error.getSQLState().substring(0, 2), "22");
    }
    connection.rollback();
    connection.setAutoCommit(true);
    same(number(connection, "SELECT count(*) FROM " + name), (long) COUNT);
    try (Connection rewriting = connect("?reWriteBatchedInserts=true");
        PreparedStatement insert = rewriting.prepareStatement("INSERT INTO lake.drivers." + name + " VALUES (?, ?)")) {
      for (int i = 0; i < 100; i += 1) {
        insert.setInt(1, i);
        insert.setString(2, "w" + i);
        insert.addBatch();
      }
      insert.executeBatch();
    }
    same(number(connection, "SELECT count(*) FROM " + name), COUNT + 100L);
  }

  private static void copyOut(Connection connection) throws Exception {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    copies(connection).copyOut("COPY (SELECT i, 'v' || i FROM range(3) r(i) ORDER BY i) TO STDOUT CSV", out);
    same(out.toString(StandardCharsets.UTF_8), "0,v0\n1,v1\n2,v2\n");
  }

  private static void copyIn(Connection connection) throws Exception {
    String name = table(connection, "i INTEGER, t TEXT");
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < COUNT; i += 1) text.append(i).append("\tv").append(i).append('\n');
    byte[] bytes = text.toString().getBytes(StandardCharsets.UTF_8);
    same(copies(connection).copyIn("COPY " + name + " FROM STDIN", new ByteArrayInputStream(bytes)), (long) COUNT);
    same(number(connection, "SELECT count(DISTINCT t) FROM " + name), (long) COUNT);
    fails("22P02", () -> copies(connection).copyIn("COPY " + name + " FROM STDIN", new ByteArrayInputStream("x\ta\n".getBytes(StandardCharsets.UTF_8))));
  }

  private static CopyManager copies(Connection connection) throws SQLException {
    return connection.unwrap(PGConnection.class).getCopyAPI();
  }

  private static void transactions(Connection plain) throws Exception {
    String name = table(plain, "i INTEGER");
    // The driver sets a savepoint before each statement, and goes back to it after an error.
    try (Connection connection = connect("?autosave=always")) {
      connection.setAutoCommit(false);
      try (Statement statement = connection.createStatement()) {
        statement.executeUpdate("INSERT INTO lake.drivers." + name + " VALUES (1)");
        fails("42703", () -> statement.execute("SELECT nothing_here"));
        var savepoint = connection.setSavepoint("s");
        statement.executeUpdate("INSERT INTO lake.drivers." + name + " VALUES (10)");
        connection.rollback(savepoint);
        statement.executeUpdate("INSERT INTO lake.drivers." + name + " VALUES (2)");
      }
      connection.commit();
    }
    same(number(plain, "SELECT sum(i)::BIGINT FROM " + name), 3L);
  }

  private static void fetchSize(Connection connection) throws Exception {
    connection.setAutoCommit(false);
    try (Statement statement = connection.createStatement()) {
      statement.setFetchSize(100);
      try (ResultSet rows = statement.executeQuery("SELECT i FROM range(1000) r(i) ORDER BY i")) {
        for (long i = 0; i < 1000; i += 1) {
          rows.next();
          same(rows.getLong(1), i);
        }
        same(rows.next(), false);
      }
    }
    connection.commit();
  }

  private static void errors(Connection connection) throws Exception {
    SQLException error = fails("42703", () -> connection.createStatement().execute("SELECT 1,\n nothing_here"));
    same(((PSQLException) error).getServerErrorMessage().getPosition(), 12);
  }

  private static void cancel(Connection connection) throws Exception {
    try (Statement statement = connection.createStatement()) {
      Timer timer = new Timer(true);
      timer.schedule(new TimerTask() {
        @Override
        public void run() {
          try {
            statement.cancel();
          } catch (SQLException error) {
            throw new IllegalStateException(error);
          }
        }
      }, 1000);
      fails("57014", () -> statement.execute(SLOW));
      timer.cancel();
    }
    queries(connection);
  }

  private interface Work {
    void run() throws Exception;
  }

  private static SQLException fails(String state, Work work) throws Exception {
    try {
      work.run();
    } catch (SQLException error) {
      same(error.getSQLState(), state);
      return error;
    }
    throw new AssertionError("no error " + state);
  }

  private static String table(Connection connection, String columns) throws SQLException {
    tables += 1;
    String name = "jdbc_" + System.nanoTime() + "_" + tables;
    connection.createStatement().execute("CREATE TABLE " + name + " (" + columns + ")");
    return name;
  }

  private static long number(Connection connection, String sql) throws SQLException {
    try (ResultSet rows = connection.createStatement().executeQuery(sql)) {
      rows.next();
      return rows.getLong(1);
    }
  }

  private static void same(Object given, Object expected) {
    if (!expected.equals(given)) throw new AssertionError(given + " is not " + expected);
  }
}
