import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.Statement;
import java.sql.Types;
import java.util.Properties;

/**
 * Prints the rows of a query as the JDBC driver gives them: a line for each value, with column, type and value by tabs. Doubles are printed
 * as their bits, bytes as hexadecimal digits. Arguments: host:port, user, password, query.
 */
public final class FlightTypes {
  public static void main(String[] args) throws Exception {
    Properties properties = new Properties();
    properties.put("useEncryption", "false");
    properties.put("user", args[1]);
    properties.put("password", args[2]);
    try (Connection connection = DriverManager.getConnection("jdbc:arrow-flight-sql://" + args[0], properties);
        Statement statement = connection.createStatement();
        ResultSet results = statement.executeQuery(args[3])) {
      ResultSetMetaData columns = results.getMetaData();
      while (results.next()) {
        for (int i = 1; i <= columns.getColumnCount(); i++) {
          String value = text(results, i, columns.getColumnType(i));
          System.out.println(columns.getColumnName(i) + "\t" + columns.getColumnTypeName(i) + "\t" + (results.wasNull() ? "NULL" : "=" + value));
        }
      }
    }
    System.exit(0);
  }

  private static String text(ResultSet results, int column, int type) throws Exception {
    switch (type) {
      case Types.FLOAT:
      case Types.REAL:
      case Types.DOUBLE:
        return String.format("%016x", Double.doubleToRawLongBits(results.getDouble(column)));
      case Types.DECIMAL:
        Object decimal = results.getBigDecimal(column);
        return decimal == null ? null : ((java.math.BigDecimal) decimal).toPlainString();
      case Types.BINARY:
      case Types.VARBINARY:
        byte[] bytes = results.getBytes(column);
        StringBuilder hex = new StringBuilder();
        for (byte one : bytes == null ? new byte[0] : bytes) hex.append(String.format("%02x", one));
        return hex.toString();
      default:
        return results.getString(column);
    }
  }
}
