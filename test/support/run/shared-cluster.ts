import type { ReadyLine } from '#cli/cluster-file.ts';
import { must } from '#shared/must.ts';
import { loadFixture } from '#test/slt/fixture.ts';
import { startCluster, type StartedCluster } from '../cluster.ts';
import { createOtherTenant } from '../other-tenant.ts';
import { patience } from './slowness.ts';
import { tableFiles } from '../table-files.ts';
import type { BucketCluster } from './run-bucket.ts';
import type { RunDatabases } from './run-databases.ts';

/** The shared cluster, and the database that its catalog and its history are in. */
export type SharedClusterFacts = { readonly ready: ReadyLine; readonly databaseUrl: string };

/**
 * All suites come from one address, many have accounts that may not sign in, and every client shows a wrong password of the administrator: with
 * the defaults they would lock each other out. Statements of megabytes are read while other suites run, on machines of any speed.
 */
const LIMITS = {
  SKEIN_CATALOG_FAILED_ACCOUNTS_PER_ADDRESS_MAX: '100000',
  SKEIN_PRINCIPAL_LOCK_AFTER: '1000',
  SKEIN_PLANNER_TIMEOUT: `${patience(10_000)}ms`,
};

/** One cluster of two workers for all suites that break nothing, with TPC-H at scale 0.01 in `lake.tpch`. */
export class SharedCluster {
  readonly #databases: RunDatabases;
  /** Where its tables lie. */
  readonly #place: () => Promise<Omit<BucketCluster, 'key'>>;
  #started: Promise<{ readonly cluster: StartedCluster; readonly databaseUrl: string }> | undefined;
  #fixture: Promise<Readonly<Record<string, string>>> | undefined;

  constructor(databases: RunDatabases, place: () => Promise<Omit<BucketCluster, 'key'>>) {
    this.#databases = databases;
    this.#place = place;
  }

  async started(): Promise<SharedClusterFacts> {
    this.#started ??= this.#start();
    const { cluster, databaseUrl } = await this.#started;
    return { ready: cluster.ready, databaseUrl };
  }

  /** Loads `test/slt/fixture.sql` and makes another tenant; answers what names stand for in a `.slt` file. */
  fixture(): Promise<Readonly<Record<string, string>>> {
    this.#fixture ??= this.#loadFixture();
    return this.#fixture;
  }

  async #loadFixture(): Promise<Readonly<Record<string, string>>> {
    this.#started ??= this.#start();
    const { cluster } = await this.#started;
    await loadFixture(cluster);
    const ownFile = must((await tableFiles(cluster, 't', 'employees'))[0], 'employees has a file');
    return { ...(await createOtherTenant(cluster, ownFile)), own_file: ownFile };
  }

  async #start(): Promise<{ readonly cluster: StartedCluster; readonly databaseUrl: string }> {
    const { url } = await this.#databases.create();
    const { args, env } = await this.#place();
    const cluster = await startCluster({ args, env: { DATABASE_URL: url, ...LIMITS, ...env } });
    await cluster.load(['tpch', '--scale', '0.01']);
    return { cluster, databaseUrl: url };
  }

  async stop(): Promise<void> {
    const started = await this.#started?.catch(() => undefined);
    await started?.cluster.stop();
  }
}
