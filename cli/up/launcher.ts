import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { atLocalhost } from '#shared/config/loopback.ts';
import { machineMemory } from '#shared/config/machine-memory.ts';
import type { BucketSettingsInput } from '#proto/generated/skein/catalog/v1/BucketSettings.ts';
import type { LoadedConfig } from '#shared/config/loaded-config.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { makeDataDir } from '#shared/storage/private-folder.ts';
import {
  readyPath,
  removeClusterFiles,
  servicesPath,
  writeWhole,
  type ReadyLine,
  type ServicesFile,
} from '../cluster-file.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { linkOr } from '../console.ts';
import { processIdentity } from '../process-identity.ts';
import { refuseNewerDataDir, writeDataDirFormat } from './data-dir-format.ts';
import { BUILD_COMMAND, consoleBuildState } from '#coordinator/api/console/build-state.ts';
import { lockDataDir } from './data-dir-lock.ts';
import { smallMachine } from './divide-memory.ts';
import { endLeftovers } from './leftovers.ts';
import { hasDatabase } from './postgres-process.ts';
import { doorTrust } from '../door-fetch.ts';
import { doorCertificates, DoorRenewal, linesToPaste, ownAuthority, withDoorCertificate } from './own-doors.ts';
import { catalogUrl, choosePorts, flightSqlUrl, postgresUrl, queryUrl, type ClusterPorts } from './ports.ts';
import { health, untilReady, workersAttached } from './probes.ts';
import { ServiceLog } from './service-log.ts';
import { makeFirstCatalog } from './first-catalog.ts';
import { SupervisedChild, type ChildSpec } from './supervised-child.ts';
import { clusterConfig, postgresFolder, postgresSpec, publicSettings, serviceSpecs } from './child-specs.ts';

/** Time for the services to end, then for Postgres; together under the five seconds that a stop may take. */
const SERVICES_STOP_MS = 2_500;
const POSTGRES_STOP_MS = 2_300;
/** Attempts to start: a free port may be taken before its service listens, and then other ports are chosen. */
const START_ATTEMPTS_MAX = 3;

/** The launcher's output: `event` writes a JSON line to standard output, `tell` a line for people to standard error. */
export type Voice = { readonly event: (line: object) => void; readonly tell: (line: string) => void };

/** `bucket`: how the bucket of the first catalog is reached; null = it does not lie in one, or an earlier start has made it. */
type StartParts = { readonly voice: Voice; readonly bucket: BucketSettingsInput | null };

/** Runs a cluster until `stop` is aborted. @throws the reason of a failed start, after everything that had started has ended */
export async function runCluster(loaded: LoadedConfig, parts: StartParts, stop: AbortSignal): Promise<ExitCode> {
  const { voice } = parts;
  const dataDir = loaded.config.data_dir;
  const objection = smallMachine(machineMemory());
  if (objection !== undefined) voice.tell(objection);
  refuseNewerDataDir(dataDir);
  prepareDataDir(dataDir);
  const lock = lockDataDir(dataDir);
  try {
    await endLeftovers(dataDir);
    const own = await withDoorCertificate(loaded);
    using _renewal = new DoorRenewal(loaded.config, voice);
    const cluster = await startWithRetry(own, parts, stop);
    if (cluster !== undefined) {
      await aborted(stop);
      voice.tell('stopping');
      await cluster.stop();
      voice.event({ event: 'stopped' });
    }
    return EXIT.ok;
  } finally {
    removeClusterFiles(dataDir);
    lock.release();
  }
}

function prepareDataDir(dataDir: string): void {
  try {
    makeDataDir(dataDir);
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? 'unknown error';
    throw new SkeinError('START_FAILED', `cannot make the data directory ${dataDir}: ${code}`, { cause });
  }
}

/** The started cluster; undefined when it was stopped before it was up. */
async function startWithRetry(
  loaded: LoadedConfig,
  parts: StartParts,
  stop: AbortSignal,
): Promise<Cluster | undefined> {
  for (let attempt = 1; ; attempt++) {
    if (stop.aborted) return undefined;
    const ports = await choosePorts(loaded.config);
    const cluster = new Cluster(loaded, ports, parts);
    try {
      await Promise.race([cluster.start(), aborted(stop)]);
      if (!stop.aborted) return cluster;
      await cluster.stop();
      return undefined;
    } catch (error) {
      await cluster.stop();
      if (stop.aborted) return undefined;
      if (SkeinError.of(error).code !== 'PORT_IN_USE' || attempt === START_ATTEMPTS_MAX) throw error;
    }
  }
}

const aborted = (signal: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });

class Cluster {
  readonly #loaded: LoadedConfig;
  readonly #ports: ClusterPorts;
  readonly #voice: Voice;
  readonly #bucket: StartParts['bucket'];
  readonly #logs: ServiceLog[] = [];
  readonly #postgres: SupervisedChild | undefined;
  readonly #services: readonly SupervisedChild[];
  #stopping = false;

  constructor(loaded: LoadedConfig, ports: ClusterPorts, { voice, bucket }: StartParts) {
    this.#ports = ports;
    this.#bucket = bucket;
    this.#voice = voice;
    this.#loaded = clusterConfig(loaded, ports);
    const specs = serviceSpecs(this.#loaded, ports);
    this.#postgres = loaded.config['database.url'] === '' ? this.#child(postgresSpec(this.#loaded, ports)) : undefined;
    this.#services = specs.map((spec) => this.#child(spec));
  }

  /**
   * Starts all services at once; each waits for those it needs (the catalog for Postgres, the coordinator for both). Without a database
   * they start in parallel with Postgres; an existing database is checked first.
   */
  async start(): Promise<void> {
    let password: string | undefined;
    const postgres = this.#postgres?.start();
    const known = this.#refuseNewerDatabase(postgres);
    const starts = this.#services.map(async (service) => {
      await known;
      const ready = await service.start();
      if (ready.generatedAdminPassword !== undefined) {
        password = ready.generatedAdminPassword;
        this.#tellPassword(password);
      }
    });
    try {
      await Promise.all([postgres, ...starts]);
    } catch (error) {
      void Promise.allSettled(starts);
      throw error;
    }
    const { config } = this.#loaded;
    if (this.#bucket !== null) await makeFirstCatalog(config, this.#bucket);
    const trust = doorTrust(config, doorCertificates(config));
    await Promise.all([
      untilReady(config['up.ready_timeout'], () => health(this.#catalogUrl(), trust)),
      untilReady(config['up.ready_timeout'], () =>
        workersAttached(this.#queryUrl(), this.#ports.workers.length, { token: config['metrics.token'], trust }),
      ),
    ]);
    const ready = this.#readyLine();
    this.#writeServices();
    writeWhole(readyPath(config.data_dir), ready);
    this.#voice.event(ready);
    if (password !== undefined) {
      this.#voice.event({ event: 'admin_password', user: config['admin.user'], password });
    }
    this.#voice.tell(
      `skein is up: query ${ready.query_url}, Flight SQL ${ready.flight_sql_url}, Postgres ${ready.postgres_url}, catalog ${ready.catalog_url}, data ${config.data_dir}`,
    );
    for (const line of linesToPaste(ready)) this.#voice.tell(line);
    const { 'catalog.public_url': publicUrl } = config;
    this.#voice.tell(`sign in at ${(publicUrl || atLocalhost(ready.catalog_url)).replace(/\/$/, '')}/sign-in`);
    if (ready.console_url !== null) await this.#tellConsole(ready.console_url);
  }

  /** Prints the link to the console; a build that is missing or old is said, with what makes it. */
  async #tellConsole(url: string): Promise<void> {
    const state = await consoleBuildState();
    if (state !== 'current') {
      this.#voice.tell(`the console is ${state === 'old' ? 'older than its sources' : 'not built'}: ${BUILD_COMMAND}`);
    }
    this.#voice.tell(`Console: ${await linkOr(url, this.#loaded)}`);
  }

  /** Stops every process; Postgres last, because the services write to it until they end. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await Promise.all(this.#services.map((service) => service.stop(SERVICES_STOP_MS)));
    await this.#postgres?.stop(POSTGRES_STOP_MS);
    // A service that had to be killed has left its folders. If they cannot be removed now, the next start empties them.
    const left = this.#services.flatMap(({ spec }) => spec.temporaryFolders ?? []);
    await Promise.allSettled(left.map((folder) => rm(folder, { recursive: true, force: true })));
    for (const log of this.#logs) log.close();
  }

  /** Resolves when the services may use the database; records that this release uses the directory. @throws NEWER_DATA */
  async #refuseNewerDatabase(postgres: Promise<unknown> | undefined): Promise<void> {
    const { config } = this.#loaded;
    if (postgres === undefined || hasDatabase(postgresFolder(config))) {
      const { refuseNewerDatabase } = await import('./refuse-newer-database.ts');
      await postgres;
      await refuseNewerDatabase(config['database.url']);
    }
    // A stop in the meantime has not seen the services, so none may start now.
    if (this.#stopping) throw new SkeinError('START_FAILED', 'the cluster was stopped before it was up');
    writeDataDirFormat(config.data_dir);
  }

  #children(): readonly SupervisedChild[] {
    return this.#postgres === undefined ? this.#services : [this.#postgres, ...this.#services];
  }

  #child(spec: ChildSpec): SupervisedChild {
    const { name } = spec;
    const log = new ServiceLog(join(this.#loaded.config.data_dir, 'logs', `${name}.log`));
    this.#logs.push(log);
    return new SupervisedChild(spec, log, {
      onStarted: () => this.#writeServices(),
      onExit: (reason, delayMs) => {
        this.#voice.event({ event: 'exited', service: name, reason, restart_in_ms: delayMs });
        this.#voice.tell(`${name} ${reason}; it is started again in ${delayMs} ms (its log: ${log.path})`);
        this.#writeServices();
      },
      onRestarted: (pid) => {
        this.#voice.event({ event: 'restarted', service: name, pid });
        this.#voice.tell(`${name} is up again (pid ${pid})`);
      },
    });
  }

  #tellPassword(password: string): void {
    const user = this.#loaded.config['admin.user'];
    this.#voice.tell(`first start: the password of ${user} is ${password} (it is not shown again)`);
  }

  #writeServices(): void {
    if (this.#stopping) return;
    const { config } = this.#loaded;
    const file: ServicesFile = {
      launcher: { pid: process.pid, identity: must(processIdentity(process.pid), 'this process lives') },
      catalog_internal_url: config['catalog.internal_url'].join(','),
      door_certificates: doorCertificates(config),
      services: this.#children().map(
        ({ spec, record }) => record ?? { kind: spec.kind, name: spec.name, pid: 0, identity: 'none', url: spec.url },
      ),
      settings: publicSettings(this.#loaded),
    };
    try {
      writeWhole(servicesPath(config.data_dir), file);
    } catch (error) {
      // A full disk must not end the running services.
      this.#voice.tell(`cannot write ${servicesPath(config.data_dir)}: ${(error as Error).message}`);
    }
  }

  #readyLine(): ReadyLine {
    const { config } = this.#loaded;
    return {
      event: 'ready',
      catalog_url: this.#catalogUrl(),
      query_url: this.#queryUrl(),
      console_url: config['coordinator.console'] === 'off' ? null : `${atLocalhost(this.#queryUrl())}/console/`,
      flight_sql_url: flightSqlUrl(config, this.#ports.flight),
      postgres_url: postgresUrl(config, this.#ports.postgresWire),
      tls_ca: ownAuthority(config),
      tenant: config['bootstrap.tenant'],
      catalog: config['bootstrap.catalog'],
      user: config['admin.user'],
      workers: this.#ports.workers.length,
      data_dir: config.data_dir,
      pid: process.pid,
    };
  }

  #catalogUrl(): string {
    return catalogUrl(this.#loaded.config, this.#ports.catalog);
  }

  #queryUrl(): string {
    return queryUrl(this.#loaded.config, this.#ports.http);
  }
}
