import org.apache.iceberg.catalog.TableIdentifier;

/** The same over a bucket: the kit's own places are local folders. */
public class BucketCatalogTests extends NestedCatalogTests {
  @Override
  protected String baseTableLocation(TableIdentifier ident) {
    return "s3://warehouse/lake/kit/" + String.join("/", ident.namespace().levels()) + "/" + ident.name();
  }
}
