import {
  PostgresDialect,
  type CompiledQuery,
  type DatabaseConnection,
  type Driver,
  type PostgresDialectConfig,
  type QueryResult,
  type TransactionSettings,
} from 'kysely';

/**
 * A statement that changes what a coordinator may have been told: a row that the resolving of names reads, a principal or its rights, or a row
 * that takes such rows with it. `folder_claim` is left out, which every key that is given changes: folders are closed by changes of
 * tables and bindings alone.
 */
const CHANGES =
  /\b(?:insert\s+into|update|delete\s+from)\s+"?catalog"?\."?(?:tenant|principal|role|role_grant|identity_provider|group_role|group_member|privilege_grant|catalog|namespace|iceberg_table|iceberg_view|table_source|policy|policy_mapping|policy_binding)\b/i;

/** Whether a statement changes what a coordinator may have been told. */
export const changesAnswers = (text: string): boolean => CHANGES.test(text);

/** Such a statement by itself, whose number of rows says whether it has changed anything. */
const CHANGES_ITSELF = /^\s*(?:insert|update|delete)\b/i;

/**
 * Postgres, where whoever has changed something that a coordinator may have been told gets its connection back first, and goes on when
 * `settle` has resolved: it holds no lock and no connection meanwhile, and has not said yet that the change is made.
 */
export class SettlingDialect extends PostgresDialect {
  readonly #settle: () => Promise<void>;

  constructor(config: PostgresDialectConfig, settle: () => Promise<void>) {
    super(config);
    this.#settle = settle;
  }

  override createDriver(): Driver {
    return new SettlingDriver(super.createDriver(), this.#settle);
  }
}

class SettlingDriver implements Driver {
  readonly #inner: Driver;
  readonly #settle: () => Promise<void>;

  constructor(inner: Driver, settle: () => Promise<void>) {
    this.#inner = inner;
    this.#settle = settle;
  }

  init(): Promise<void> {
    return this.#inner.init();
  }

  async acquireConnection(): Promise<ObservedConnection> {
    return new ObservedConnection(await this.#inner.acquireConnection());
  }

  beginTransaction({ inner }: ObservedConnection, settings: TransactionSettings): Promise<void> {
    return this.#inner.beginTransaction(inner, settings);
  }

  async commitTransaction(connection: ObservedConnection): Promise<void> {
    connection.isUnsure = true;
    await this.#inner.commitTransaction(connection.inner);
    connection.isUnsure = false;
  }

  async rollbackTransaction(connection: ObservedConnection): Promise<void> {
    await this.#inner.rollbackTransaction(connection.inner);
    connection.hasChanged = false;
  }

  async releaseConnection(connection: ObservedConnection): Promise<void> {
    await this.#inner.releaseConnection(connection.inner);
    if (!connection.hasChanged) return;
    // A COMMIT without an answer may have happened, so the coordinators are told; the caller acknowledges nothing, and need not wait.
    const settled = this.#settle();
    if (!connection.isUnsure) await settled;
  }

  destroy(): Promise<void> {
    return this.#inner.destroy();
  }
}

/** A connection, from when it is acquired until it is released. */
class ObservedConnection implements DatabaseConnection {
  readonly inner: DatabaseConnection;
  hasChanged = false;
  /** Its COMMIT got no answer. */
  isUnsure = false;

  constructor(inner: DatabaseConnection) {
    this.inner = inner;
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const hadChanged = this.hasChanged;
    // Before its answer, which may be lost after the change was made.
    this.hasChanged ||= changesAnswers(query.sql);
    const result = await this.inner.executeQuery<R>(query);
    // Background work looks every few seconds by an UPDATE that takes what is due, and mostly finds nothing.
    if (result.numAffectedRows === 0n && CHANGES_ITSELF.test(query.sql)) this.hasChanged = hadChanged;
    return result;
  }

  streamQuery<R>(query: CompiledQuery, chunkSize?: number): AsyncIterableIterator<QueryResult<R>> {
    this.hasChanged ||= changesAnswers(query.sql);
    return this.inner.streamQuery(query, chunkSize);
  }
}
