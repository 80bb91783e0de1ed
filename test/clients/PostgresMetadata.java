import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.List;

/**
 * Every method of DatabaseMetaData by pgjdbc: a line {@code method, value} for each, with a tab; those that give a result have a line for its
 * columns and one for each row, in an order of their own. Arguments: URL, user, password.
 */
public final class PostgresMetadata {
  private static final String TABLE = "customers";

  public static void main(String[] args) throws Exception {
    try (Connection connection = DriverManager.getConnection(args[0], args[1], args[2])) {
      DatabaseMetaData metadata = connection.getMetaData();
      Method[] methods = DatabaseMetaData.class.getDeclaredMethods();
      Arrays.sort(methods, Comparator.comparing(PostgresMetadata::named));
      for (Method method : methods) {
        if (method.getReturnType() == Connection.class) continue;
        for (String line : answers(metadata, method)) System.out.println(named(method) + "\t" + line);
      }
    }
  }

  private static String named(Method method) {
    int parameters = method.getParameterCount();
    return method.getName() + (parameters == 0 ? "" : "/" + parameters);
  }

  private static List<String> answers(DatabaseMetaData metadata, Method method) throws Exception {
    try {
      Object value = method.invoke(metadata, arguments(method));
      return value instanceof ResultSet rows ? lines(rows) : List.of(shown(value));
    } catch (InvocationTargetException error) {
      if (!(error.getCause() instanceof SQLException cause)) throw error;
      return List.of("error " + cause.getSQLState() + " " + shown(cause.getMessage()));
    }
  }

  /** A catalog, a schema, a table for each three names, and what is not limited for others; both ends of a reference have names. */
  private static Object[] arguments(Method method) {
    Class<?>[] types = method.getParameterTypes();
    Object[] values = new Object[types.length];
    int names = 0;
    for (int i = 0; i < types.length; i += 1) {
      if (types[i] == String.class) {
        values[i] = name(method.getName(), names);
        names += 1;
      } else if (types[i] == int.class) values[i] = i == 0 ? ResultSet.TYPE_FORWARD_ONLY : ResultSet.CONCUR_READ_ONLY;
      else if (types[i] == boolean.class) values[i] = i == 3;
      else values[i] = null;
    }
    if (method.getName().equals("getBestRowIdentifier")) values[3] = DatabaseMetaData.bestRowSession;
    if (method.getName().equals("getIndexInfo")) values[3] = false;
    return values;
  }

  private static String name(String method, int at) {
    if (at % 3 == 0) return null;
    if (method.equals("getTables") || method.equals("getSchemas")) return "%";
    if (at % 3 == 1) return method.startsWith("getFunction") || method.startsWith("getProcedure") ? "pg_catalog" : "public";
    if (method.startsWith("getFunction") || method.startsWith("getProcedure")) return "array_a%";
    return method.equals("getUDTs") || method.equals("getAttributes") ? "%" : TABLE;
  }

  private static List<String> lines(ResultSet rows) throws SQLException {
    ResultSetMetaData columns = rows.getMetaData();
    List<String> heads = new ArrayList<>();
    for (int i = 1; i <= columns.getColumnCount(); i += 1) heads.add(columns.getColumnLabel(i) + " " + columns.getColumnTypeName(i));
    List<String> found = new ArrayList<>();
    while (rows.next()) {
      List<String> cells = new ArrayList<>();
      for (int i = 1; i <= heads.size(); i += 1) cells.add(shown(rows.getString(i)));
      found.add(String.join("|", cells));
    }
    rows.close();
    Collections.sort(found);
    found.add(0, String.join("|", heads));
    return found;
  }

  private static String shown(Object value) {
    return String.valueOf(value).replaceAll("\\s+", " ");
  }
}
