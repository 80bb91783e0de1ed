import jakarta.persistence.Column;
import jakarta.persistence.ConstraintMode;
import jakarta.persistence.Embeddable;
import jakarta.persistence.EmbeddedId;
import jakarta.persistence.Entity;
import jakarta.persistence.FetchType;
import jakarta.persistence.ForeignKey;
import jakarta.persistence.Id;
import jakarta.persistence.JoinColumn;
import jakarta.persistence.ManyToOne;
import jakarta.persistence.OneToMany;
import jakarta.persistence.OptimisticLockException;
import jakarta.persistence.OrderBy;
import jakarta.persistence.Table;
import jakarta.persistence.Version;
import java.math.BigDecimal;
import java.sql.SQLException;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Consumer;
import org.hibernate.ScrollableResults;
import org.hibernate.Session;
import org.hibernate.SessionFactory;
import org.hibernate.annotations.Immutable;
import org.hibernate.cfg.Configuration;

/**
 * Each feature of Hibernate over the tables of {@code test/support/browsed-tables.ts}: a line {@code Hibernate, feature, outcome} for each,
 * with tabs. Arguments: URL, user, password.
 */
public final class PostgresHibernate {
  @Entity(name = "Customer")
  @Table(name = "customers", schema = "public")
  public static class Customer {
    @Id Long id;
    @Column(name = "full_name", nullable = false) String fullName;
    @Column(precision = 12, scale = 2) BigDecimal credit;
    @Column(name = "born_on") LocalDate bornOn;
    @Column(name = "seen_at") LocalDateTime seenAt;
    @Column(name = "woken_at") OffsetDateTime wokenAt;
    @Column(name = "is_kept") Boolean kept;
    @Column(columnDefinition = "real") Float height;
    Double weight;
    Integer children;
    byte[] face;
    @Column(name = "token_of") UUID token;
    @Column(columnDefinition = "text[]") String[] labels;
    Integer[] scores;
    @OneToMany(mappedBy = "customer") @OrderBy("id") List<Purchase> purchases = new ArrayList<>();

    Customer() {}

    Customer(long id, String fullName) {
      this.id = id;
      this.fullName = fullName;
    }
  }

  @Entity(name = "Purchase")
  @Table(name = "orders", schema = "public")
  public static class Purchase {
    @Id @Column(name = "order_id") Long id;
    @ManyToOne(fetch = FetchType.LAZY, optional = false)
    @JoinColumn(name = "customer_id", foreignKey = @ForeignKey(ConstraintMode.NO_CONSTRAINT))
    Customer customer;
    @Column(name = "placed_on") LocalDate placedOn;

    Purchase() {}

    Purchase(long id, Customer customer, LocalDate placedOn) {
      this.id = id;
      this.customer = customer;
      this.placedOn = placedOn;
    }
  }

  @Embeddable
  public record PieceKey(@Column(name = "part_id") int part, @Column(name = "piece_id") int piece) {}

  @Entity(name = "Piece")
  @Table(name = "t", schema = "other")
  public static class Piece {
    @EmbeddedId PieceKey key;
    @Column(name = "weight_of", precision = 9, scale = 3) BigDecimal weight;
  }

  @Entity(name = "PurchaseName")
  @Immutable
  @Table(name = "order_names", schema = "public")
  public static class PurchaseName {
    @Id @Column(name = "order_id") Long id;
    @Column(name = "full_name") String fullName;
  }

  /** A table that Hibernate makes. */
  @Entity(name = "Note")
  @Table(name = "notes", schema = "other")
  public static class Note {
    @Id Long id;
    @Version long version;
    String text;

    Note() {}

    Note(long id, String text) {
      this.id = id;
      this.text = text;
    }
  }

  /** The same table with a column more. */
  @Entity(name = "LaterNote")
  @Table(name = "notes", schema = "other")
  public static class LaterNote {
    @Id Long id;
    long version;
    String text;
    LocalDate later;
  }

  /** A column of another type than the table's. */
  @Entity(name = "WrongType")
  @Table(name = "orders", schema = "public")
  public static class WrongType {
    @Id @Column(name = "order_id") Long id;
    @Column(name = "placed_on") Integer placedOn;
  }

  /** A column that the table has not. */
  @Entity(name = "WrongColumn")
  @Table(name = "orders", schema = "public")
  public static class WrongColumn {
    @Id @Column(name = "order_id") Long id;
    @Column(name = "no_such") Integer noSuch;
  }

  /** A table that is in the other schema. */
  @Entity(name = "WrongSchema")
  @Table(name = "orders", schema = "other")
  public static class WrongSchema {
    @Id @Column(name = "order_id") Long id;
  }

  private interface Feature {
    void run() throws Exception;
  }

  private static final Class<?>[] ENTITIES = {Customer.class, Purchase.class, Piece.class, PurchaseName.class};
  private static String[] arguments;
  private static SessionFactory factory;

  public static void main(String[] args) {
    arguments = args;
    Map<String, Feature> features = new LinkedHashMap<>();
    features.put("validate", () -> factory = sessions("validate", ENTITIES));
    features.put("validate: a wrong type", () -> refused("wrong column type encountered in column [placed_on] in table [public.orders]", WrongType.class));
    features.put("validate: a missing column", () -> refused("missing column [no_such] in table [public.orders]", WrongColumn.class));
    features.put("validate: a missing table", () -> refused("missing table [other.orders]", WrongSchema.class));
    features.put("insert", PostgresHibernate::insert);
    features.put("load, every type", PostgresHibernate::load);
    features.put("HQL", PostgresHibernate::query);
    features.put("pages", PostgresHibernate::pages);
    features.put("scroll", PostgresHibernate::scroll);
    features.put("update and delete", PostgresHibernate::change);
    features.put("rollback", PostgresHibernate::rollback);
    features.put("bulk update and delete", PostgresHibernate::bulk);
    features.put("a view", PostgresHibernate::view);
    features.put("native SQL", PostgresHibernate::nativeSql);
    features.put("batches", PostgresHibernate::batches);
    features.put("create, update, drop", PostgresHibernate::schema);
    features.put("versions", PostgresHibernate::versions);
    features.put("two transactions change one row", PostgresHibernate::conflict);
    features.forEach((feature, work) -> {
      String outcome = "ok";
      try {
        work.run();
      } catch (Throwable error) {
        outcome = shown(error);
      }
      System.out.println("Hibernate\t" + feature + "\t" + outcome);
    });
    if (factory != null) factory.close();
  }

  private static String shown(Throwable error) {
    StringBuilder text = new StringBuilder();
    for (Throwable one = error; one != null; one = one.getCause()) text.append(one).append(' ');
    StackTraceElement place = Arrays.stream(error.getStackTrace()).filter(one -> one.getClassName().startsWith("PostgresHibernate")).findFirst().orElse(null);
    return (place + ": " + text).replaceAll("\\s+", " ");
  }

  private static SessionFactory sessions(String schema, Class<?>... entities) {
    Configuration configuration = new Configuration();
    configuration.setProperty("hibernate.connection.url", arguments[0]);
    configuration.setProperty("hibernate.connection.username", arguments[1]);
    configuration.setProperty("hibernate.connection.password", arguments[2]);
    configuration.setProperty("hibernate.hbm2ddl.auto", schema);
    configuration.setProperty("hibernate.hbm2ddl.halt_on_error", "true");
    configuration.setProperty("hibernate.jdbc.batch_size", "50");
    configuration.setProperty("hibernate.order_inserts", "true");
    for (Class<?> entity : entities) configuration.addAnnotatedClass(entity);
    return configuration.buildSessionFactory();
  }

  private static void refused(String expected, Class<?> entity) {
    try (SessionFactory made = sessions("validate", entity)) {
      throw new AssertionError("it was taken");
    } catch (RuntimeException error) {
      if (!error.toString().contains(expected)) throw error;
    }
  }

  private static void stale(Class<? extends RuntimeException> expected, Runnable work) {
    try {
      work.run();
    } catch (RuntimeException error) {
      if (expected.isInstance(error)) return;
      throw error;
    }
    throw new AssertionError("it was taken");
  }

  private static void same(Object given, Object expected) {
    if (!Objects.deepEquals(given, expected)) throw new AssertionError(Arrays.deepToString(new Object[] {given}) + " is not " + Arrays.deepToString(new Object[] {expected}));
  }

  private static void inTransaction(Consumer<Session> work) {
    factory.inTransaction(work);
  }

  private static Customer full() {
    Customer one = new Customer(1, "Öyvind O'Hara \\ \"x\"");
    one.credit = new BigDecimal("-9999999999.99");
    one.bornOn = LocalDate.of(1931, 4, 5);
    one.seenAt = LocalDateTime.of(2024, 2, 29, 12, 34, 56, 123456000);
    one.wokenAt = OffsetDateTime.parse("1969-07-20T20:17:40.123456Z");
    one.kept = true;
    one.height = 0.5f;
    one.weight = 0.1;
    one.children = Integer.MIN_VALUE;
    one.face = new byte[] {0, -1, 39, 92};
    one.token = new UUID(7, -1);
    one.labels = new String[] {"a", "b,c", "", "x\"\\", null};
    one.scores = new Integer[] {1, null, -3};
    return one;
  }

  private static void insert() {
    inTransaction(session -> {
      session.createMutationQuery("delete from Purchase").executeUpdate();
      session.createMutationQuery("delete from Customer").executeUpdate();
      Customer first = full();
      Customer second = new Customer(2, "Nobody");
      session.persist(first);
      session.persist(second);
      session.persist(new Purchase(10, first, LocalDate.of(2024, 1, 1)));
      session.persist(new Purchase(11, first, null));
      Piece piece = new Piece();
      piece.key = new PieceKey(3, 4);
      piece.weight = new BigDecimal("1.250");
      session.persist(piece);
    });
  }

  private static void load() {
    inTransaction(session -> {
      Customer expected = full();
      Customer found = session.find(Customer.class, 1L);
      same(found.fullName, expected.fullName);
      same(found.credit, expected.credit);
      same(found.bornOn, expected.bornOn);
      same(found.seenAt, expected.seenAt);
      same(found.wokenAt.toInstant(), expected.wokenAt.toInstant());
      same(found.kept, true);
      same(found.height, expected.height);
      same(found.weight, expected.weight);
      same(found.children, expected.children);
      same(found.face, expected.face);
      same(found.token, expected.token);
      same(found.labels, expected.labels);
      same(found.scores, expected.scores);
      same(found.purchases.stream().map(one -> one.id).toList(), List.of(10L, 11L));
      Customer empty = session.find(Customer.class, 2L);
      same(Arrays.asList(empty.credit, empty.bornOn, empty.kept, empty.face, empty.token, empty.labels), Arrays.asList(new Object[6]));
      same(session.find(Piece.class, new PieceKey(3, 4)).weight, new BigDecimal("1.250"));
      same(session.find(Customer.class, 99L), null);
    });
  }

  private static void query() {
    inTransaction(session -> {
      List<Object[]> rows = session.createQuery(
          "select c.fullName, count(p), max(p.placedOn) from Customer c left join c.purchases p"
            + " where c.fullName like :some and c.id in (:ids) group by c.fullName having count(p) > 1 order by c.fullName desc", Object[].class)
        .setParameter("some", "%Hara%").setParameter("ids", List.of(1L, 2L, 3L)).getResultList();
      same(rows.size(), 1);
      same(rows.get(0), new Object[] {full().fullName, 2L, LocalDate.of(2024, 1, 1)});
      List<Customer> fetched = session.createQuery("select distinct c from Customer c join fetch c.purchases where lower(c.fullName) <> :no", Customer.class)
        .setParameter("no", "nobody").getResultList();
      same(fetched.stream().map(one -> one.purchases.size()).toList(), List.of(2));
      same(session.createQuery("select c.id from Customer c where not exists (from Purchase p where p.customer = c)", Long.class).getResultList(), List.of(2L));
      same(session.createQuery("select year(p.placedOn), cast(p.id as string), coalesce(p.customer.credit, 0) from Purchase p where p.placedOn is not null", Object[].class).getSingleResult(),
        new Object[] {2024, "10", new BigDecimal("-9999999999.99")});
      same(session.createQuery("select c.id from Customer c order by c.credit nulls first", Long.class).getResultList(), List.of(2L, 1L));
    });
  }

  private static void pages() {
    inTransaction(session -> {
      same(session.createQuery("select p.id from Purchase p order by p.id", Long.class).setMaxResults(1).getResultList(), List.of(10L));
      same(session.createQuery("select p.id from Purchase p order by p.id", Long.class).setFirstResult(1).setMaxResults(5).getResultList(), List.of(11L));
      same(session.createQuery("select p.id from Purchase p order by p.id", Long.class).setFirstResult(1).getResultList(), List.of(11L));
    });
  }

  private static void scroll() {
    inTransaction(session -> {
      List<Long> found = new ArrayList<>();
      try (ScrollableResults<Long> rows = session.createQuery("select p.id from Purchase p order by p.id", Long.class).setFetchSize(1).scroll()) {
        while (rows.next()) found.add(rows.get());
      }
      same(found, List.of(10L, 11L));
    });
  }

  private static void change() {
    inTransaction(session -> {
      Customer first = session.find(Customer.class, 1L);
      first.fullName = "Øyvind";
      first.labels = new String[] {};
      first.face = null;
      session.remove(session.find(Customer.class, 2L));
      session.find(Piece.class, new PieceKey(3, 4)).weight = null;
    });
    inTransaction(session -> {
      Customer first = session.find(Customer.class, 1L);
      same(first.fullName, "Øyvind");
      same(first.labels, new String[] {});
      same(first.face, null);
      same(session.find(Customer.class, 2L), null);
      same(session.find(Piece.class, new PieceKey(3, 4)).weight, null);
      // By a merge, a detached entity comes back.
      Customer detached = new Customer(1, "Merged");
      detached.purchases = null;
      session.merge(detached);
    });
    inTransaction(session -> {
      Customer first = session.find(Customer.class, 1L);
      same(first.fullName, "Merged");
      same(first.credit, null);
    });
  }

  private static void rollback() {
    try {
      inTransaction(session -> {
        session.persist(new Customer(9, "Gone"));
        session.flush();
        same(session.createQuery("select count(*) from Customer", Long.class).getSingleResult(), 2L);
        throw new IllegalStateException("enough");
      });
    } catch (IllegalStateException expected) {
      same(expected.getMessage(), "enough");
    }
    inTransaction(session -> same(session.createQuery("select count(*) from Customer", Long.class).getSingleResult(), 1L));
  }

  private static void bulk() {
    inTransaction(session -> {
      same(session.createMutationQuery("update Purchase p set p.placedOn = :day where p.placedOn is null").setParameter("day", LocalDate.of(2024, 5, 6)).executeUpdate(), 1);
      same(session.createMutationQuery("delete from Purchase p where p.id > 10").executeUpdate(), 1);
    });
    inTransaction(session -> same(session.find(Purchase.class, 11L), null));
  }

  private static void view() {
    inTransaction(session -> same(session.createQuery("select n.fullName from PurchaseName n where n.id = 10", String.class).getResultList(), List.of("Merged")));
  }

  private static void nativeSql() {
    inTransaction(session -> {
      same(session.createNativeQuery("select * from public.customers where id = ?", Customer.class).setParameter(1, 1L).getSingleResult().fullName, "Merged");
      same(session.createNativeQuery("select full_name, id from public.customers where id = :id", Object[].class).setParameter("id", 1L).getSingleResult(), new Object[] {"Merged", 1L});
    });
  }

  private static void batches() {
    inTransaction(session -> {
      for (long i = 1000; i < 1120; i += 1) session.persist(new Customer(i, "c" + i));
    });
    inTransaction(session -> {
      for (Customer one : session.createQuery("from Customer c where c.id >= 1000 and c.id < 1060", Customer.class).getResultList()) one.children = 3;
    });
    inTransaction(session -> {
      same(session.createQuery("select count(*), sum(c.children) from Customer c where c.id >= 1000", Object[].class).getSingleResult(), new Object[] {120L, 180L});
      for (Customer one : session.createQuery("from Customer c where c.id >= 1000", Customer.class).getResultList()) session.remove(one);
    });
    inTransaction(session -> same(session.createQuery("select count(*) from Customer", Long.class).getSingleResult(), 1L));
  }

  private static void schema() {
    sessions("create", Note.class).close();
    sessions("validate", Note.class).close();
    sessions("update", LaterNote.class).close();
    sessions("validate", LaterNote.class).close();
    sessions("create-drop", LaterNote.class).close();
    refused("missing table [other.notes]", Note.class);
  }

  private static void versions() {
    try (SessionFactory own = sessions("create-drop", Note.class)) {
      own.inTransaction(session -> session.persist(new Note(1, "first")));
      own.inTransaction(session -> session.find(Note.class, 1L).text = "second");
      own.inTransaction(session -> same(session.find(Note.class, 1L).version, 1L));
      Note detached = own.fromTransaction(session -> session.find(Note.class, 1L));
      own.inTransaction(session -> session.find(Note.class, 1L).text = "third");
      detached.text = "lost";
      stale(OptimisticLockException.class, () -> own.inTransaction(session -> session.merge(detached)));
      own.inTransaction(session -> same(session.find(Note.class, 1L).text, "third"));
    }
  }

  /** The later one fails: as it changes the row, by its version, or as it commits, where a transaction sees one snapshot. */
  private static void conflict() {
    try (SessionFactory own = sessions("create-drop", Note.class)) {
      own.inTransaction(session -> session.persist(new Note(1, "first")));
      boolean isLost = false;
      try {
        own.inTransaction(session -> {
          Note seen = session.find(Note.class, 1L);
          own.inTransaction(other -> other.find(Note.class, 1L).text = "second");
          seen.text = "lost";
        });
      } catch (OptimisticLockException expected) {
        isLost = true;
      } catch (RuntimeException error) {
        for (Throwable one = error; one != null; one = one.getCause()) {
          if (one instanceof SQLException failed && failed.getSQLState().equals("40001")) isLost = true;
        }
        if (!isLost) throw error;
      }
      same(isLost, true);
      own.inTransaction(session -> same(session.find(Note.class, 1L).text, "second"));
    }
  }
}
