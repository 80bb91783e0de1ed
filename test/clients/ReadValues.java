import java.util.Map;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Table;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.data.Record;
import org.apache.iceberg.data.parquet.GenericParquetReaders;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.parquet.Parquet;
import org.apache.iceberg.rest.RESTCatalog;

/** Prints the rows of a table without deletes, as Iceberg's Java library reads them. Arguments: catalog URL, token, namespace, table. */
public final class ReadValues {
  public static void main(String[] args) throws Exception {
    try (RESTCatalog catalog = new RESTCatalog()) {
      catalog.setConf(new Configuration());
      catalog.initialize(
          "lake",
          Map.of(
              "uri", args[0],
              "token", args[1],
              "warehouse", "lake",
              "io-impl", "org.apache.iceberg.hadoop.HadoopFileIO"));
      Table table = catalog.loadTable(TableIdentifier.of(args[2], args[3]));
      try (CloseableIterable<FileScanTask> files = table.newScan().planFiles()) {
        for (FileScanTask file : files) {
          try (CloseableIterable<Record> rows =
              Parquet.read(table.io().newInputFile(file.file().location()))
                  .project(table.schema())
                  .createReaderFunc(inFile -> GenericParquetReaders.buildReader(table.schema(), inFile))
                  .build()) {
            for (Record row : rows) System.out.println(row);
          }
        }
      }
    }
  }
}
