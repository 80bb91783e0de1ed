import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { DuckDBInstance, type DuckDBConnection } from '@duckdb/node-api';
import type { ScanFile } from '#shared/iceberg/scan-file.ts';
import { startCatalog, type RunningCatalog } from '#catalog/main.ts';
import { parseTableName } from '#cli/load/load-arguments.ts';
import { callCatalog } from '#cli/catalog-rpc.ts';
import { LoadCatalog, type CatalogAccess } from '#cli/load/load-catalog.ts';
import { runLoad } from '#cli/load/run-load.ts';
import { plainSecurity } from '#shared/grpc/channel-security.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import { defaultConfig, type Config } from '#shared/config/config-schema.ts';
import { LruManifestCache } from '#shared/iceberg/manifest-cache.ts';
import { limitsApart } from '#shared/iceberg/decode-limits.ts';
import { planFiles } from '#shared/iceberg/plan-files.ts';
import type { PlanFilesOptions } from '#shared/iceberg/planning.ts';
import type { PlannedFiles } from '#shared/iceberg/table-reader.ts';
import { must } from '#shared/must.ts';
import type { Predicate } from '#shared/iceberg/predicate.ts';
import type { TableMetadata } from '#shared/iceberg/table-metadata.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { fileStorage } from '#test/support/file-storage.ts';
import { localPath } from '#shared/storage/location.ts';
import { python } from './python.ts';
import { createTestDatabase, type TestDatabase } from './resources.ts';

export type LoadEvent = {
  readonly event: string;
  readonly code?: string;
  readonly message?: string;
  readonly [key: string]: unknown;
};

export type LoadOptions = {
  readonly signal?: AbortSignal;
  readonly overrides?: Partial<Config>;
  readonly connect?: () => Promise<CatalogAccess>;
};

/** Output of `inspect-tables.py` about a table. */
export type InspectedTable = {
  readonly rows: number;
  readonly mismatches: readonly unknown[];
  /** Manifests of the current snapshot, as fastavro reads them. */
  readonly manifests: readonly Readonly<Record<string, unknown>>[];
  readonly files: readonly {
    readonly path: string;
    readonly rows: number;
    readonly split_offsets: number;
    readonly columns: Readonly<Record<string, Readonly<Record<string, string | null>>>>;
  }[];
};

const SECRET = 'load-test';

/** `skein load` against a catalog of its own, in process, on a real Postgres; and a DuckDB to make and compare files with. */
export class LoadHarness implements AsyncDisposable {
  readonly folder: string;
  readonly catalog: RunningCatalog;
  readonly token: string;
  readonly config: Config;
  readonly #database: TestDatabase;
  readonly #duck: DuckDBConnection;

  private constructor(
    parts: {
      readonly folder: string;
      readonly config: Config;
      readonly catalog: RunningCatalog;
      readonly token: string;
    },
    database: TestDatabase,
    duck: DuckDBConnection,
  ) {
    this.folder = parts.folder;
    this.catalog = parts.catalog;
    this.token = parts.token;
    this.config = parts.config;
    this.#database = database;
    this.#duck = duck;
  }

  static async start(): Promise<LoadHarness> {
    const folder = await mkdtemp(join(tmpdir(), 'skein-load-'));
    const database = await createTestDatabase();
    const config = defaultConfig({
      data_dir: folder,
      'database.url': database.url,
      'catalog.port': 0,
      'cluster.secret': SECRET,
      'bootstrap.warehouse': join(folder, 'warehouse'),
      'admin.password': 'not-used-here',
    });
    const catalog = await startCatalog(config, silentLogger);
    const token = await mintToken(catalog.internalAddress);
    const duck = await (await DuckDBInstance.create(':memory:')).connect();
    return new LoadHarness({ folder, config, catalog, token }, database, duck);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#duck.closeSync();
    await this.catalog.close();
    await this.#database[Symbol.asyncDispose]();
    await rm(this.folder, { recursive: true, force: true });
  }

  /** The administrator's access to the catalog, for a load. */
  get access(): CatalogAccess {
    return accessTo(this.catalog, this.token);
  }

  async sql(text: string): Promise<readonly Record<string, unknown>[]> {
    return (await this.#duck.runAndReadAll(text)).getRowObjectsJson();
  }

  /** A Parquet file of a query's rows. */
  async parquet(name: string, query: string): Promise<string> {
    const path = join(this.folder, name);
    await this.sql(`COPY (${query}) TO '${path}' (FORMAT parquet)`);
    return path;
  }

  /** Runs the command with `--json`. */
  async load(
    args: readonly string[],
    { signal, overrides, connect }: LoadOptions = {},
  ): Promise<{ code: number; events: readonly LoadEvent[] }> {
    const stdout = new PassThrough().setEncoding('utf8');
    const stderr = new PassThrough().setEncoding('utf8');
    stderr.on('data', (part: string) => console.error(part));
    let text = '';
    stdout.on('data', (part: string) => (text += part));
    const code = await runLoad([...args, '--json'], {
      config: { ...this.config, ...overrides },
      connect: connect ?? (() => Promise.resolve(this.access)),
      stdout,
      stderr,
      isTty: false,
      signal: signal ?? new AbortController().signal,
    });
    await new Promise((resolve) => stdout.end(resolve));
    const lines = text.split('\n').filter(Boolean);
    return { code, events: lines.map((line) => JSON.parse(line) as LoadEvent) };
  }

  async table(name: string): Promise<TableMetadata> {
    const catalog = await LoadCatalog.open(() => Promise.resolve(this.access));
    return catalog.loadTable(parseTableName(name));
  }

  /** A request of the administrator to the REST catalog. @throws when it is refused */
  async post(path: string, body: object): Promise<void> {
    const headers = { authorization: `Bearer ${this.token}` };
    const answer = await fetch(`${this.catalog.url}/v1/lake${path}`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    if (!answer.ok) throw new Error(`${path}: ${await answer.text()}`);
  }

  /** Whether `lake` has a namespace of one level. */
  async hasNamespace(name: string): Promise<boolean> {
    const headers = { authorization: `Bearer ${this.token}` };
    return (await fetch(`${this.catalog.url}/v1/lake/namespaces/${name}`, { method: 'HEAD', headers })).status === 204;
  }

  /** A table's files under a predicate, and the SQL that reads them. */
  async plan(name: string, predicate: Predicate = { kind: 'true' }): Promise<PlannedFiles & { sql: string }> {
    const metadata = await this.table(name);
    const snapshotId = must(metadata.currentSnapshotId, 'a loaded table has a snapshot');
    const options: PlanFilesOptions = {
      manifestCache: new LruManifestCache(1e7),
      allowedRoots: [metadata.location],
      limits: limitsApart(2 ** 28),
      largeManifests: 'read',
    };
    const files: ScanFile[] = [];
    const report = await planFiles(fileStorage, metadata, snapshotId, predicate, options, (file) => files.push(file));
    const list = files.map(({ path }) => `'${localPath(path)}'`).join(', ');
    return { files, report, sql: `read_parquet([${list}], hive_partitioning = false)` };
  }

  /** Every file below the warehouse. */
  async warehouse(): Promise<readonly string[]> {
    const entries = await readdir(join(this.folder, 'warehouse'), { recursive: true }).catch(() => []);
    return entries.filter((name) => name.includes('.')).sort();
  }

  /** Tables of `lake` as PyIceberg sees them. */
  async inspect(...names: readonly string[]): Promise<Readonly<Record<string, InspectedTable>>> {
    const text = await python('cli/load/inspect-tables.py', this.catalog.url, this.token, 'lake', ...names);
    return JSON.parse(text) as Readonly<Record<string, InspectedTable>>;
  }
}

/** Access to the catalog, or to another one on the same data. */
export const accessTo = (
  catalog: { readonly url: string; readonly internalAddress: string },
  token: string,
): CatalogAccess => ({
  catalogUrl: catalog.url,
  token,
  call: (method, request) => callCatalog({ internalUrl: catalog.internalAddress, security: SECURITY }, method, request),
});

const SECURITY = plainSecurity(fixedKeyring(SECRET));

const mintToken = async (address: string): Promise<string> => {
  const target = { internalUrl: address, security: SECURITY };
  return (await callCatalog(target, 'MintToken', { tenant: 'default', user: 'admin' })).token;
};
