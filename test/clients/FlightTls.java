import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.Properties;

/** Signs in with an authority ("-": none), and prints "ok" or the error. Arguments: host:port, user, password, file of the authority. */
public final class FlightTls {
  public static void main(String[] args) {
    Properties properties = new Properties();
    properties.put("user", args[1]);
    properties.put("password", args[2]);
    if (!args[3].equals("-")) properties.put("tlsRootCerts", args[3]);
    try (Connection connection = DriverManager.getConnection("jdbc:arrow-flight-sql://" + args[0], properties);
        Statement statement = connection.createStatement();
        ResultSet results = statement.executeQuery("SELECT 42")) {
      results.next();
      System.out.println(results.getInt(1) == 42 ? "ok" : "other rows");
    } catch (Throwable error) {
      System.out.println(error.toString().replaceAll("\\s+", " "));
    }
    System.exit(0);
  }
}
