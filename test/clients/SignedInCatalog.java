import java.util.Map;
import org.apache.iceberg.exceptions.NotAuthorizedException;
import org.apache.iceberg.rest.RESTCatalog;

/** Keeps a catalog open with a credential, and uses it until the time is up; says so when it is refused. Arguments: catalog URL, token URL, credential, seconds. */
public final class SignedInCatalog {
  public static void main(String[] args) throws Exception {
    Map<String, String> properties =
        Map.of("uri", args[0], "oauth2-server-uri", args[1], "credential", args[2], "warehouse", "lake");
    try (RESTCatalog catalog = new RESTCatalog()) {
      catalog.initialize("lake", properties);
      long end = System.nanoTime() + Long.parseLong(args[3]) * 1_000_000_000L;
      do {
        try {
          System.out.println(catalog.listNamespaces());
        } catch (NotAuthorizedException e) {
          System.out.println("refused");
        }
        Thread.sleep(200);
      } while (System.nanoTime() < end);
    }
    System.exit(0);
  }
}
