import org.apache.iceberg.catalog.Namespace;
import org.apache.iceberg.rest.RESTCompatibilityKitCatalogTests;
import org.junit.jupiter.api.AfterEach;

/** The kit's catalog tests with the two features that it leaves off over REST: nested namespaces, and names with slashes. */
public class NestedCatalogTests extends RESTCompatibilityKitCatalogTests {
  /** The root of the nested namespaces of more than one test; the kit empties only those that it uses without this class. */
  private static final Namespace NESTED_ROOT = Namespace.of("parent");

  @Override
  protected boolean supportsNestedNamespaces() {
    return true;
  }

  @Override
  protected boolean supportsNamesWithSlashes() {
    return true;
  }

  @AfterEach
  void dropNested() {
    if (catalog().namespaceExists(NESTED_ROOT)) drop(NESTED_ROOT);
  }

  private void drop(Namespace namespace) {
    catalog().listNamespaces(namespace).forEach(this::drop);
    catalog().dropNamespace(namespace);
  }
}
