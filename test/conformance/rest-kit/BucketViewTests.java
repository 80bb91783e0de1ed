import org.apache.iceberg.rest.RESTCompatibilityKitViewCatalogTests;

/** The kit's tests of views over a bucket: its own places are local folders. */
public class BucketViewTests extends RESTCompatibilityKitViewCatalogTests {
  @Override
  protected String viewLocation(String... paths) {
    return "s3://warehouse/lake/kit/" + String.join("/", paths);
  }
}
