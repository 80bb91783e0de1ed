import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import org.apache.hadoop.conf.Configuration;
import org.apache.iceberg.DataFile;
import org.apache.iceberg.FileScanTask;
import org.apache.iceberg.Table;
import org.apache.iceberg.TableScan;
import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.catalog.TableIdentifier;
import org.apache.iceberg.expressions.Expression;
import org.apache.iceberg.expressions.Expressions;
import org.apache.iceberg.io.CloseableIterable;
import org.apache.iceberg.rest.RESTCatalog;
import org.apache.iceberg.util.ByteBuffers;

/**
 * Plans scans of every table of a namespace twice, with Iceberg's Java library on its own and through the catalog, over generated filters.
 * Arguments: catalog URL, token, namespace, seed, filters a table. Prints a line for every scan: table, "equal", "more" (the catalog keeps
 * files that the library drops), "less", "differ" (in what is said of a file) or "failed" (the library did), files of each, kind of scan,
 * filter.
 */
public final class ServerPlanning {
  private static final String[] NAMES = {"alpha", "alp", "beta", "bet", "gamma", "zzz", "", "Ü"};

  public static void main(String[] args) throws Exception {
    Random random = new Random(Long.parseLong(args[3]));
    try (RESTCatalog local = open(args, "client"); RESTCatalog remote = open(args, "server")) {
      for (TableIdentifier name : local.listTables(Namespace.of(args[2]))) {
        Table here = local.loadTable(name);
        Table there = remote.loadTable(name);
        if (here.schema().findField("ratio") == null) continue;
        for (int i = 0; i < Integer.parseInt(args[4]); i++) {
          Expression filter = expression(random, 1 + random.nextInt(3));
          System.out.println(name.name() + "\t" + compare(here.newScan().filter(filter), there.newScan().filter(filter)) + "\t" + filter);
        }
        long first = here.history().get(0).snapshotId();
        List<String> columns = List.of("id", "name", "ts", "price", "ratio", "day", "flag", "seen");
        TableScan own = here.newScan().useSnapshot(first).includeColumnStats(columns);
        TableScan planned = there.newScan().useSnapshot(first).includeColumnStats(columns);
        System.out.println(name.name() + "\t" + compare(own, planned) + "\tsnapshot " + first);
      }
    }
  }

  private static RESTCatalog open(String[] args, String mode) {
    RESTCatalog catalog = new RESTCatalog();
    catalog.setConf(new Configuration());
    catalog.initialize(
        mode,
        Map.of(
            "uri", args[0],
            "token", args[1],
            "warehouse", "lake",
            "io-impl", "org.apache.iceberg.hadoop.HadoopFileIO",
            "scan-planning-mode", mode));
    return catalog;
  }

  private static String compare(TableScan here, TableScan there) throws Exception {
    Map<String, String> planned = files(there);
    Map<String, String> own;
    String verdict;
    try {
      own = files(here);
    } catch (NullPointerException error) {
      // The library looks for a partition value of null in a set of strings.
      return "failed\t0\t" + planned.size() + "\t" + there.getClass().getSimpleName();
    }
    if (own.equals(planned)) verdict = "equal";
    else if (!planned.keySet().containsAll(own.keySet())) verdict = "less";
    else if (planned.size() == own.size()) {
      String file = own.keySet().stream().filter(one -> !own.get(one).equals(planned.get(one))).findFirst().orElseThrow();
      verdict = "differ (" + own.get(file) + " - " + planned.get(file) + ")";
    } else verdict = "more";
    return verdict + "\t" + own.size() + "\t" + planned.size() + "\t" + there.getClass().getSimpleName();
  }

  /** All that a task says, by data file. */
  private static Map<String, String> files(TableScan scan) throws Exception {
    Map<String, String> found = new TreeMap<>();
    try (CloseableIterable<FileScanTask> tasks = scan.planFiles()) {
      for (FileScanTask task : tasks) {
        DataFile file = task.file();
        Object[] said = {
          task.deletes().stream().map(one -> one.location()).sorted().toList(),
          file.specId(),
          file.partition().size() == 0 ? "" : task.spec().partitionToPath(file.partition()),
          file.format(),
          file.recordCount(),
          file.fileSizeInBytes(),
          file.splitOffsets(),
          file.sortOrderId(),
          file.columnSizes(),
          file.valueCounts(),
          file.nullValueCounts(),
          orNull(file.nanValueCounts()),
          hex(file.lowerBounds()),
          hex(file.upperBounds())
        };
        found.put(file.location(), Arrays.toString(said));
      }
    }
    return found;
  }

  /** Written as nothing by some, as an empty map by others. */
  private static Object orNull(Map<Integer, Long> counts) {
    return counts == null || counts.isEmpty() ? null : counts;
  }

  private static Object hex(Map<Integer, ByteBuffer> bounds) {
    if (bounds == null) return null;
    Map<Integer, String> found = new TreeMap<>();
    bounds.forEach((id, value) -> found.put(id, HexFormat.of().formatHex(ByteBuffers.toByteArray(value))));
    return found;
  }

  private static Expression expression(Random random, int depth) {
    if (depth == 0 || random.nextInt(4) == 0) return leaf(random);
    Expression left = expression(random, depth - 1);
    switch (random.nextInt(5)) {
      case 0:
        return Expressions.not(left);
      case 1:
      case 2:
        return Expressions.and(left, expression(random, depth - 1));
      default:
        return Expressions.or(left, expression(random, depth - 1));
    }
  }

  private static Expression leaf(Random random) {
    String column = new String[] {"id", "name", "ts", "price", "day", "size", "seen"}[random.nextInt(7)];
    Expression.Operation[] operations = {
      Expression.Operation.LT, Expression.Operation.LT_EQ, Expression.Operation.GT, Expression.Operation.GT_EQ, Expression.Operation.EQ,
      Expression.Operation.NOT_EQ
    };
    switch (random.nextInt(8)) {
      case 0:
        return random.nextBoolean() ? Expressions.isNull(column) : Expressions.notNull(column);
      case 1:
        return random.nextBoolean() ? Expressions.isNaN("ratio") : Expressions.notNaN("ratio");
      case 2:
        String prefix = NAMES[random.nextInt(6)].substring(0, 2);
        return random.nextBoolean() ? Expressions.startsWith("name", prefix) : Expressions.notStartsWith("name", prefix);
      case 3:
        List<Object> values = new ArrayList<>();
        for (int i = random.nextInt(4) + 2; i > 0; i--) values.add(value(column, random));
        return random.nextBoolean() ? Expressions.in(column, values) : Expressions.notIn(column, values);
      default:
        return Expressions.predicate(operations[random.nextInt(operations.length)], column, value(column, random));
    }
  }

  /** Times as text, dates as days: engines send both. */
  private static Object value(String column, Random random) {
    int i = random.nextInt(130);
    switch (column) {
      case "id":
        return (long) i;
      case "name":
        return NAMES[random.nextInt(NAMES.length)];
      case "ts":
        return String.format("2024-01-%02dT%02d:00:00.000001", 1 + i / 5, i % 24);
      case "price":
        return new java.math.BigDecimal(i * 125 % 5000).movePointLeft(2).setScale(2);
      case "day":
        return random.nextBoolean() ? (Object) (19662 + i) : "2023-11-" + (10 + i % 20);
      case "size":
        return 1000 - i;
      default:
        return String.format("2024-01-%02dT09:00:00+00:00", 1 + i / 5);
    }
  }
}
