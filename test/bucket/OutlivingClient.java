import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.io.PositionOutputStream;
import org.apache.iceberg.rest.RESTCatalog;

/**
 * Loads a table once, and then writes, reads and deletes one object after another in its folder.
 * Arguments: catalog URL, token, warehouse, table, seconds, way to the files. Prints the number of objects.
 */
public final class OutlivingClient {
  public static void main(String[] args) throws Exception {
    try (RESTCatalog catalog = new RESTCatalog()) {
      catalog.initialize(
          "outliving",
          Map.of(
              "uri", args[0],
              "token", args[1],
              "warehouse", args[2],
              "io-impl", "org.apache.iceberg.aws.s3.S3FileIO",
              "header.X-Iceberg-Access-Delegation", args[5]));
      Table table = catalog.loadTable(TableIdentifier.parse(args[3]));
      long end = System.nanoTime() + Long.parseLong(args[4]) * 1_000_000_000L;
      int count = 0;
      for (; System.nanoTime() < end; count++) {
        String location = table.location() + "/data/outliving-" + count;
        byte[] bytes = ("object " + count).getBytes(StandardCharsets.UTF_8);
        try (PositionOutputStream stream = table.io().newOutputFile(location).create()) {
          stream.write(bytes);
        }
        try (InputStream stream = table.io().newInputFile(location).newStream()) {
          String read = new String(stream.readAllBytes(), StandardCharsets.UTF_8);
          if (!read.equals("object " + count)) throw new IllegalStateException(read);
        }
        table.io().deleteFile(location);
        Thread.sleep(500);
      }
      System.out.println(count);
    }
  }
}
