import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.Date;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * The Flight SQL JDBC driver against a cluster: each feature by itself. Arguments: host:port, user, password, token. Prints a line for each
 * feature: its name, a tab, "ok" or what went wrong.
 */
public final class FlightJdbc {
  private interface Work {
    void run() throws Exception;
  }

  private static final String SCHEMA = "lake.flight_jdbc";
  private static String[] given;

  public static void main(String[] args) throws Exception {
    given = args;
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      statement.executeUpdate("CREATE SCHEMA IF NOT EXISTS " + SCHEMA);
    }
    Map<String, Work> features = new LinkedHashMap<>();
    features.put("sign in", FlightJdbc::signIn);
    features.put("queries", FlightJdbc::queries);
    features.put("statements without rows", FlightJdbc::updates);
    features.put("parameters", FlightJdbc::parameters);
    features.put("many bound rows", FlightJdbc::batches);
    features.put("metadata", FlightJdbc::metadata);
    features.put("catalog and schema of the session", FlightJdbc::session);
    features.put("cancel", FlightJdbc::cancel);
    features.put("errors with SQLSTATE and place", FlightJdbc::errors);
    for (Map.Entry<String, Work> feature : features.entrySet()) {
      String outcome = "ok";
      try {
        feature.getValue().run();
      } catch (Throwable error) {
        StackTraceElement at = Arrays.stream(error.getStackTrace()).filter(one -> one.getClassName().equals("FlightJdbc")).findFirst().orElse(null);
        outcome = (error + " at " + at).replaceAll("\\s+", " ");
      }
      System.out.println(feature.getKey() + "\t" + outcome);
    }
    System.exit(0);
  }

  private static Connection connect(String... more) throws SQLException {
    Properties properties = new Properties();
    properties.put("useEncryption", "false");
    if (more.length == 0 || !more[0].equals("token")) {
      properties.put("user", given[1]);
      properties.put("password", given[2]);
    }
    for (int i = 0; i < more.length; i += 2) properties.put(more[i], more[i + 1]);
    return DriverManager.getConnection("jdbc:arrow-flight-sql://" + given[0], properties);
  }

  private static void equal(Object got, Object wanted) {
    if (!String.valueOf(got).equals(String.valueOf(wanted))) throw new AssertionError(got + " is not " + wanted);
  }

  private static List<List<String>> rows(ResultSet results) throws SQLException {
    List<List<String>> rows = new ArrayList<>();
    try (results) {
      int columns = results.getMetaData().getColumnCount();
      while (results.next()) {
        List<String> row = new ArrayList<>();
        for (int i = 1; i <= columns; i++) row.add(results.getString(i));
        rows.add(row);
      }
    }
    return rows;
  }

  private static void signIn() throws SQLException {
    try (Connection connection = connect("token", given[3]); Statement statement = connection.createStatement()) {
      equal(rows(statement.executeQuery("SELECT 42")), "[[42]]");
    }
    try (Connection connection = connect("password", "wrong")) {
      throw new AssertionError("a wrong password signs in");
    } catch (SQLException error) {
      if (!error.toString().contains("28")) throw error;
    }
  }

  private static void queries() throws SQLException {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      equal(rows(statement.executeQuery("SELECT n_name FROM lake.tpch.nation WHERE n_nationkey = 7")), "[[GERMANY]]");
      equal(rows(statement.executeQuery("SELECT l_orderkey FROM lake.tpch.lineitem")).size(),
          rows(statement.executeQuery("SELECT count(*) FROM lake.tpch.lineitem")).get(0).get(0));
      equal(rows(statement.executeQuery("SHOW SCHEMAS FROM lake LIKE 'tpch'")), "[[tpch]]");
      try (ResultSet results = statement.executeQuery("SELECT 1.50::DECIMAL(10,2) AS d, 'x' AS s, DATE '2020-02-29' AS t, NULL::INT AS n")) {
        equal(results.next(), true);
        equal(results.getBigDecimal("d"), "1.50");
        equal(results.getString("s"), "x");
        equal(results.getDate("t"), "2020-02-29");
        equal(results.getInt("n"), 0);
        equal(results.wasNull(), true);
        equal(results.getMetaData().getColumnTypeName(1), "DECIMAL");
      }
    }
  }

  private static void updates() throws SQLException {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      equal(statement.executeUpdate("CREATE OR REPLACE TABLE " + SCHEMA + ".updates (x INT, s VARCHAR)"), 0);
      equal(statement.executeUpdate("INSERT INTO " + SCHEMA + ".updates VALUES (1, 'a'), (2, 'b'), (3, 'c')"), 3);
      equal(statement.executeUpdate("DELETE FROM " + SCHEMA + ".updates WHERE x > 1"), 2);
      equal(statement.execute("SELECT * FROM " + SCHEMA + ".updates"), true);
      equal(rows(statement.getResultSet()), "[[1, a]]");
      equal(statement.execute("DROP TABLE " + SCHEMA + ".updates"), false);
    }
  }

  private static void parameters() throws SQLException {
    try (Connection connection = connect();
        PreparedStatement statement = connection.prepareStatement("SELECT n_name FROM lake.tpch.nation WHERE n_nationkey = ? AND n_name = ?")) {
      equal(statement.getParameterMetaData().getParameterCount(), 2);
      for (String[] one : new String[][] {{"7", "GERMANY"}, {"6", "FRANCE"}}) {
        statement.setInt(1, Integer.parseInt(one[0]));
        statement.setString(2, one[1]);
        equal(rows(statement.executeQuery()), "[[" + one[1] + "]]");
      }
    }
  }

  private static void batches() throws SQLException {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      statement.executeUpdate("CREATE OR REPLACE TABLE " + SCHEMA + ".batches (x BIGINT, s VARCHAR, d DECIMAL(10,2), t DATE)");
      try (PreparedStatement insert = connection.prepareStatement("INSERT INTO " + SCHEMA + ".batches VALUES (?, ?, ?, ?)")) {
        for (int i = 0; i < 500; i++) {
          insert.setLong(1, i);
          insert.setString(2, "row " + i);
          insert.setBigDecimal(3, new BigDecimal("1.25"));
          insert.setDate(4, Date.valueOf("2020-02-29"));
          insert.addBatch();
        }
        insert.executeBatch();
      }
      equal(rows(statement.executeQuery("SELECT count(*), sum(x)::BIGINT, sum(d)::DECIMAL(10,2), max(t) FROM " + SCHEMA + ".batches")),
          "[[500, 124750, 625.00, 2020-02-29]]");
    }
  }

  private static void metadata() throws Exception {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      statement.executeUpdate("CREATE OR REPLACE TABLE " + SCHEMA + ".described (id BIGINT NOT NULL, d DECIMAL(9, 2), s VARCHAR)");
      DatabaseMetaData data = connection.getMetaData();
      equal(data.getDatabaseProductName(), "Skein");
      equal(rows(data.getCatalogs()).contains(List.of("lake")), true);
      equal(rows(data.getSchemas("lake", "flight\\_jdbc")).size(), 1);
      equal(rows(data.getTables("lake", "flight\\_jdbc", "descr%", new String[] {"TABLE"})).get(0).get(2), "described");
      equal(rows(data.getTableTypes()).contains(List.of("VIEW")), true);
      List<String> columns = new ArrayList<>();
      try (ResultSet results = data.getColumns("lake", "flight\\_jdbc", "described", "%")) {
        while (results.next()) columns.add(results.getString("COLUMN_NAME") + " " + results.getString("IS_NULLABLE"));
      }
      equal(columns, "[id NO, d YES, s YES]");
      rows(data.getPrimaryKeys("lake", "flight_jdbc", "described"));
      rows(data.getImportedKeys("lake", "flight_jdbc", "described"));
      rows(data.getExportedKeys("lake", "flight_jdbc", "described"));
      rows(data.getCrossReference("lake", "flight_jdbc", "described", "lake", "flight_jdbc", "described"));
      rows(data.getTypeInfo());
      callEvery(data);
    }
  }

  /** Calls every method of the interface, those with arguments with a catalog, a schema and a table that are there. */
  private static void callEvery(DatabaseMetaData data) throws Exception {
    List<String> failed = new ArrayList<>();
    for (Method method : DatabaseMetaData.class.getMethods()) {
      if (List.of("unwrap", "isWrapperFor").contains(method.getName())) continue;
      Object[] values = new Object[method.getParameterCount()];
      String[] texts = {"lake", "flight_jdbc", "described", "%", "flight_jdbc", "described"};
      for (int i = 0; i < values.length; i++) {
        Class<?> type = method.getParameterTypes()[i];
        values[i] = type == String.class ? texts[i] : type == int.class ? (method.getName().startsWith("supportsResultSet") ? ResultSet.TYPE_FORWARD_ONLY : 1) : type == boolean.class ? false : null;
      }
      try {
        Object answer = method.invoke(data, values);
        if (answer instanceof ResultSet) rows((ResultSet) answer);
        else if (answer == null && method.getReturnType() != void.class) failed.add(method.getName() + " answers null");
      } catch (InvocationTargetException error) {
        // Methods that the driver itself has not written ask the server nothing.
        boolean isDrivers = String.valueOf(error.getCause().getMessage()).equals("todo: implement this method");
        if (!isDrivers && !(error.getCause() instanceof SQLFeatureNotSupportedException)) failed.add(method.getName() + " " + error.getCause());
      }
    }
    equal(failed, "[]");
  }

  private static void cancel() throws Exception {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      long began = System.nanoTime();
      new Thread(() -> {
        try {
          Thread.sleep(1000);
          statement.cancel();
        } catch (Exception error) {
          throw new RuntimeException(error);
        }
      }).start();
      try {
        rows(statement.executeQuery("SELECT count(*) FROM range(100000000000) WHERE range % 7 = 9"));
        throw new AssertionError("it was not cancelled");
      } catch (SQLException error) {
        equal((System.nanoTime() - began) / 1_000_000_000L < 15, true);
      }
    }
  }

  private static void session() throws SQLException {
    try (Connection connection = connect("schema", "tpch"); Statement statement = connection.createStatement()) {
      equal(rows(statement.executeQuery("SELECT count(*) FROM nation")), "[[25]]");
    }
    Connection connection = connect("catalog", "lake");
    try (Statement statement = connection.createStatement()) {
      equal(rows(statement.executeQuery("SELECT count(*) FROM tpch.nation")), "[[25]]");
    }
    try {
      connection.close();
    } catch (SQLException error) {
      // With a catalog the driver sends CloseSession on a channel that it has closed itself.
      if (!error.getMessage().contains("Channel shutdown invoked")) throw error;
    }
  }

  private static void errors() throws SQLException {
    try (Connection connection = connect(); Statement statement = connection.createStatement()) {
      try {
        statement.executeQuery("SELECT 1,\n nothing");
        throw new AssertionError("no error");
      } catch (SQLException error) {
        if (!error.toString().contains("[42703]") || !error.toString().contains("line 2, column 2")) throw error;
      }
      equal(rows(statement.executeQuery("SELECT 1")), "[[1]]");
    }
  }
}
