import { mkdirSync, readdirSync, rmdirSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockDataDir, type DataDirLock } from '#cli/up/data-dir-lock.ts';
import { parseJson, type Json, type JsonObject } from '#shared/json.ts';

/**
 * A fixture is a data directory as an earlier commit left it, with what it answered then. `fixtures/<name>/` holds
 * `data/` (the files of the data directory), `database.sql` (its Postgres) and `fixture.json` (this type).
 * Its secrets and tokens open nothing but itself.
 */
export type Fixture = {
  /** The commit whose code wrote the data. */
  readonly commit: string;
  /** Bearer tokens that are good for a hundred years, by the tenant that they belong to. */
  readonly tokens: Readonly<Record<Tenant, string>>;
  /** A service account of the first tenant, and a refresh token of it that nobody has used. */
  readonly client: { readonly client_id: string; readonly client_secret: string; readonly refresh_token: string };
  /** Lifetime of the tokens that the client gets, which the fixture's `skein.yaml` sets. */
  readonly tokenSeconds: number;
  readonly queries: readonly RecordedQuery[];
  readonly documents: readonly RecordedDocument[];
  /** The rows of `coordinator.query_history`, as Postgres prints them in JSON. */
  readonly history: readonly JsonObject[];
};

export type Tenant = 'default' | 'rival';
/** A statement and what it answered. */
export type RecordedQuery = { readonly tenant: Tenant; readonly sql: string; readonly answer: Json };
/** The answer of the catalog to a GET, as far as a later release has to answer the same. */
export type RecordedDocument = { readonly tenant: Tenant; readonly path: string; readonly body: Json };

const FIXTURES = join(import.meta.dirname, 'fixtures');
/** A fixture is rarely in use for more than some seconds. */
const WAIT_MS = 90_000;
const POLL_MS = 200;

export const fixtureFolder = (name: string): string => join(FIXTURES, name);
export const fixtureNames = (): readonly string[] => readdirSync(FIXTURES).sort();

export async function readFixture(name: string): Promise<Fixture> {
  return parseJson(await readFile(join(fixtureFolder(name), 'fixture.json'), 'utf8')) as unknown as Fixture;
}

/**
 * The folder in which every fixture is made and used. It is the same on every machine, because Iceberg metadata holds absolute locations,
 * which cannot be replaced in compressed manifests.
 */
const PLACE = '/tmp/skein-upgrade-fixture';

/** The data directory of a fixture, empty and ours until it is disposed of, which removes it. */
export type FixturePlace = AsyncDisposable & { readonly dataDir: string };

/** Waits for others that use the place. @throws Error when it does not become free, or belongs to another user. */
export async function takePlace(): Promise<FixturePlace> {
  const lock = await lockPlace();
  const dataDir = join(PLACE, 'data');
  const empty = (): Promise<void> => rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
  await empty();
  mkdirSync(dataDir);
  return {
    dataDir,
    [Symbol.asyncDispose]: async () => {
      await empty();
      lock.release();
      removeUnlessUsed();
    },
  };
}

async function lockPlace(): Promise<DataDirLock> {
  const deadline = performance.now() + WAIT_MS;
  for (;;) {
    try {
      mkdirSync(PLACE, { recursive: true });
      return lockDataDir(PLACE);
    } catch (cause) {
      const { code, message } = cause as NodeJS.ErrnoException;
      // ENOENT: whoever had the place has removed the folder between our two steps.
      const passes = code === 'DATA_DIR_IN_USE' || code === 'ENOENT';
      if (!passes || performance.now() > deadline) {
        throw new Error(`an upgrade fixture needs ${PLACE}: ${message}`, { cause });
      }
      await sleep(POLL_MS);
    }
  }
}

/** Removes the folder when it is not in use, because another user could not use it. */
function removeUnlessUsed(): void {
  try {
    rmdirSync(PLACE);
  } catch {
    // The next user of the place has made its lock there.
  }
}
