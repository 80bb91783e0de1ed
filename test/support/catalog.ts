import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { credentials, type Client, type Metadata, type ServiceError } from '@grpc/grpc-js';
import { Client as PgClient } from 'pg';
import { startCatalog, type RunningCatalog } from '#catalog/main.ts';
import type { Principal as PrincipalMessage } from '#proto/generated/skein/catalog/v1/Principal.ts';
import { toPrincipalMessage, type Principal } from '#shared/authorization/principal.ts';
import { fixedKeyring } from '#shared/keyring.ts';
import type { Clock } from '#shared/clock.ts';
import { defaultConfig, type Config } from '#shared/config/config-schema.ts';
import { fromServiceError, internalMetadata } from '#shared/grpc/internal-auth.ts';
import { loadService } from '#shared/grpc/load-proto.ts';
import { parseJson, printJson, type JsonObject } from '#shared/json.ts';
import { silentLogger } from '#shared/log/logger.ts';
import type { TestPostgres } from './postgres.ts';
import { createTestDatabase } from './resources.ts';

export const TEST_SECRET = 'the secret of the cluster under test';

export type RestAnswer = { readonly status: number; readonly body: JsonObject; readonly headers: Headers };
export type RestOptions = {
  readonly body?: unknown;
  /** Sent as it is, instead of `body`. */
  readonly raw?: string | Uint8Array;
  readonly token?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
};

/** A catalog of this process on a database of its own. */
export type TestCatalog = {
  readonly databaseUrl: string;
  readonly running: RunningCatalog;
  readonly dataDir: string;
  readonly config: Config;
  /** A token of admin with every scope. */
  readonly token: string;
  rest(method: string, path: string, options?: RestOptions): Promise<RestAnswer>;
  /** An internal call; with another `secret` to be refused. @throws SkeinError */
  call<Reply>(method: string, request: object, secret?: string): Promise<Reply>;
  mint(request?: object): Promise<string>;
  /** The principal of a token, the admin's unless another is given, as internal calls carry it. */
  principal(token?: string): PrincipalMessage;
  /** A statement on its database; the rows. */
  sql(text: string): Promise<readonly object[]>;
  /** Stops the catalog and starts it again on the same data. */
  restart(): Promise<void>;
  [Symbol.asyncDispose](): Promise<void>;
};

type UnaryClient = Client &
  Record<
    string,
    (request: object, metadata: Metadata, done: (error: ServiceError | null, reply: unknown) => void) => void
  >;

/** The database is one of the run's Postgres, unless a test gives a Postgres which it kills. */
export async function startTestCatalog(
  overrides: Partial<Config> = {},
  clock?: Clock,
  postgres?: TestPostgres,
): Promise<TestCatalog> {
  const database = postgres ?? (await createTestDatabase());
  const dataDir = await mkdtemp(join(tmpdir(), 'skein-catalog-'));
  const config = defaultConfig({
    data_dir: dataDir,
    'database.url': database.url,
    'catalog.port': 0,
    'catalog.internal_port': 0,
    'cluster.secret': TEST_SECRET,
    'admin.password': 'a password that is not generated',
    ...overrides,
  });
  const { Client: Internal } = loadService('catalog.proto', 'skein.catalog.v1.CatalogInternal');
  let running = await startCatalog(config, silentLogger, clock);
  let client = new Internal(running.internalAddress, credentials.createInsecure()) as unknown as UnaryClient;

  const call = <Reply>(method: string, request: object, secret = TEST_SECRET): Promise<Reply> =>
    new Promise((resolve, reject) => {
      client[method]?.(request, internalMetadata(fixedKeyring(secret)), (error, reply) => {
        if (error === null) resolve(reply as Reply);
        else reject(fromServiceError(error, 'CATALOG_UNAVAILABLE'));
      });
    });
  const mint = async (request: object = {}): Promise<string> =>
    (await call<{ token: string }>('MintToken', { tenant: 'default', user: 'admin', ...request })).token;
  const token = await mint();
  const stop = async (): Promise<void> => {
    client.close();
    await running.close();
  };

  return {
    databaseUrl: database.url,
    get running() {
      return running;
    },
    dataDir,
    config,
    token,
    call,
    mint,
    principal: (ofToken = token) => toPrincipalMessage(decodeJwt(ofToken) as unknown as Principal),
    sql: (text) => runSql(database.url, text),
    rest: (method, path, options = {}) => request(running.url + path, method, { token, ...options }),
    async restart() {
      await stop();
      running = await startCatalog(config, silentLogger, clock);
      client = new Internal(running.internalAddress, credentials.createInsecure()) as unknown as UnaryClient;
    },
    async [Symbol.asyncDispose]() {
      await stop();
      if (postgres === undefined) await database[Symbol.asyncDispose]();
      await rm(dataDir, { recursive: true, force: true });
    },
  };
}

async function runSql(connectionString: string, text: string): Promise<readonly object[]> {
  const client = new PgClient({ connectionString });
  await client.connect();
  try {
    return (await client.query<object>(text)).rows;
  } finally {
    await client.end();
  }
}

async function request(url: string, method: string, options: RestOptions): Promise<RestAnswer> {
  const { body, raw, token, headers } = options;
  const payload = raw ?? (body === undefined ? undefined : printJson(body));
  const response = await fetch(url, {
    method,
    headers: {
      ...(typeof token === 'string' ? { authorization: `Bearer ${token}` } : {}),
      ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(payload === undefined ? {} : { body: payload as string }),
  });
  const text = await response.text();
  const isJson = response.headers.get('content-type')?.includes('json') ?? false;
  return {
    status: response.status,
    headers: response.headers,
    body: isJson && text !== '' ? (parseJson(text) as JsonObject) : { text },
  };
}
