import { randomUUID } from 'node:crypto';
import { on } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { systemClock } from '#shared/clock.ts';
import type { Config } from '#shared/config/config-schema.ts';
import { hostOf, isLoopback } from '#shared/config/loopback.ts';
import { SkeinError } from '#shared/error.ts';
import { hasSecret } from '#shared/keyring.ts';
import { createLogger, type Logger } from '#shared/log/logger.ts';
import type { MemberProcess } from '#shared/membership/member-service.ts';
import { memberAddress } from '#shared/membership/member.ts';
import { registerMember } from '#shared/membership/open-membership.ts';
import { returnMemoryWhenIdle } from '#shared/thread/idle-memory.ts';
import { EXIT, exitCodeOf, type ExitCode } from './exit-code.ts';
import { isKind, type ChildMessage } from './up/child-message.ts';

export type ServiceName = 'catalog' | 'coordinator' | 'worker';

/** A started service; `said` goes into the line that a service without a launcher prints. */
type Started = {
  readonly said: Readonly<Record<string, string>>;
  readonly generatedAdminPassword?: string | undefined;
  /** Ends the process, even with threads that do not end; defaults to `process.exit`. */
  readonly exit?: (code: ExitCode) => never;
  /** Drains the service: it finishes its work and takes nothing new. Others may request a drain, too; `drained` resolves after it. */
  readonly drain?: { readonly drained: Promise<void>; run(): Promise<void>; readonly timeoutMs: number };
  close(): Promise<void>;
};

/** Time for a service to close; after it the process ends anyway. */
const CLOSE_TIMEOUT_MS = 3_500;
/** A signal to a process group arrives twice, from its sender and forwarded by the supervisor: within this time it counts once. */
const SAME_SIGNAL_MS = 250;

/** Time for a coordinator to hand over the lead. */
const HAND_OVER_MS = 5_000;
/** A coordinator is drained by its own process only. */
const NEVER = new Promise<void>(() => undefined);

const START = {
  catalog: async (config, log, process) => {
    const { startCatalog } = await import('#catalog/main.ts');
    const catalog = await startCatalog(config, log, systemClock, undefined, process);
    const member = await register('catalog', { config, id: process.id, address: catalog.internalAddress }, log);
    return {
      said: { url: catalog.url, internal_url: catalog.internalAddress },
      generatedAdminPassword: catalog.generatedAdminPassword,
      close: async () => {
        await member.close();
        await catalog.close();
      },
    };
  },
  coordinator: async (config, log, process) => {
    const { startCoordinator } = await import('#coordinator/main.ts');
    const coordinator = await startCoordinator(config, log, process);
    return {
      said: {
        url: coordinator.queryUrl,
        flight_sql_url: coordinator.flightSqlUrl,
        postgres_url: coordinator.postgresUrl,
      },
      drain: {
        drained: NEVER,
        run: () => coordinator.drain(),
        timeoutMs: config['coordinator.drain_timeout'] + HAND_OVER_MS,
      },
      close: () => coordinator.close(),
    };
  },
  worker: async (config, log, process) => {
    const { startWorker } = await import('#worker/main.ts');
    const { exitAtOnce } = await import('#worker/ordered-end.ts');
    const worker = await startWorker(config, log, () => void tell({ kind: 'endangered' }), process);
    void worker.hung.then(() => exitAtOnce(EXIT.ordered));
    const member = await register('worker', { config, id: process.id, address: worker.url }, log);
    return {
      said: { url: worker.url, metrics_url: worker.metricsUrl },
      exit: exitAtOnce,
      drain: { drained: worker.drained, run: () => worker.drain(), timeoutMs: config['worker.drain_timeout'] },
      close: async () => {
        // The worker is deregistered first, so that no coordinator finds it, and then closed.
        await member.close();
        await worker.close();
      },
    };
  },
} as const satisfies Record<ServiceName, (config: Config, log: Logger, process: MemberProcess) => Promise<Started>>;

type Registered = { readonly config: Config; readonly id: string; readonly address: string };

/** Lets the coordinators find this process. */
async function register(
  kind: 'catalog' | 'worker',
  { config, id, address }: Registered,
  log: Logger,
): Promise<{ close(): Promise<void> }> {
  const host = config['cluster.advertise_host'];
  const reachable = host === '' ? address : `${host}:${address.slice(address.lastIndexOf(':') + 1)}`;
  const name = kind === 'worker' ? config['worker.name'] : host || address;
  return registerMember(config, { kind, id, name, address: memberAddress(reachable) }, log);
}

/**
 * Runs one service in this process until SIGINT, SIGTERM or, under the launcher, the end of the IPC channel. It reports its start to the
 * launcher over that channel, or without a launcher in a JSON line on standard output.
 */
export async function runService(
  name: ServiceName,
  config: Config,
  { isStandby }: { readonly isStandby: boolean } = { isStandby: false },
): Promise<ExitCode> {
  if (isStandby) await takeOver();
  const log = createLogger(
    config['worker.name'] !== '' && name === 'worker' ? config['worker.name'] : name,
    config.log_level,
  );
  const ending = endOfService();
  returnMemoryWhenIdle();
  process.on('unhandledRejection', (reason) => {
    log.fatal({ err: reason }, 'unhandled rejection');
    process.exit(EXIT.failed);
  });
  let service: Started;
  try {
    requireSettings(name, config);
    service = await START[name](config, log, { id: randomUUID(), restart: ending.drain });
  } catch (thrown) {
    const error = startError(name, thrown);
    log.error({ err: thrown }, error.message);
    await report({ kind: 'failed', error: error.toData() }, { event: 'failed', ...error.toData() });
    return process.exit(exitCodeOf(error));
  }
  const { generatedAdminPassword, said } = service;
  const password = generatedAdminPassword === undefined ? {} : { generatedAdminPassword };
  await report(
    { kind: 'ready', said, ...password },
    {
      event: 'ready',
      service: name,
      ...said,
      ...(generatedAdminPassword === undefined
        ? {}
        : { admin_user: config['admin.user'], admin_password: generatedAdminPassword }),
    },
  );
  await endOf(service, ending, log);
  log.info('stopping');
  const exit = service.exit ?? ((code: ExitCode): never => process.exit(code));
  const timer = setTimeout(() => {
    log.warn('did not close in time');
    exit(EXIT.ok);
  }, CLOSE_TIMEOUT_MS);
  await service.close().catch((error: unknown) => log.error({ err: error }, 'closing failed'));
  clearTimeout(timer);
  log.flush();
  return exit(EXIT.ok);
}

/** Standby: resolves when the previous process has ended; the program is loaded in the meantime. */
async function takeOver(): Promise<void> {
  const disconnected = (): never => process.exit(EXIT.ok);
  process.once('disconnect', disconnected);
  await import('#worker/main.ts');
  for await (const [message] of on(process, 'message')) if (isKind(message, 'take-over')) break;
  process.off('disconnect', disconnected);
}

/** Checks settings that have no usable default, to fail at once instead of after a wait. @throws INVALID_CONFIGURATION */
function requireSettings(name: ServiceName, config: Config): void {
  const hasDatabase = name === 'worker' || config['database.url'] !== '';
  const missing = hasSecret(config) ? (hasDatabase ? undefined : 'database.url') : 'cluster.secret';
  if (missing !== undefined)
    throw new SkeinError('INVALID_CONFIGURATION', `${missing} is not set; skein ${name} needs it`);
  if (name !== 'catalog') return;
  requireSharedWarehouse(config);
  requireSharedKeys(config);
}

/**
 * Refuses the warehouse of the data directory where other hosts would not find it.
 * @throws INVALID_CONFIGURATION when there are several catalogs, or workers on other machines
 */
export function requireSharedWarehouse(config: Config): void {
  const far = config['cluster.workers'].some((url) => {
    const host = hostOf(memberAddress(url));
    return host === undefined || (!isLoopback(host) && host !== config.internal_host);
  });
  if (config['bootstrap.warehouse'] !== '' || (config['catalog.internal_url'].length === 1 && !far)) return;
  throw new SkeinError(
    'INVALID_CONFIGURATION',
    'bootstrap.warehouse is not set, and this cluster has several hosts: name a folder that all of them share, or a bucket',
  );
}

/**
 * Refuses keys of the data directory where another catalog would not find them: it could not read the secrets that this one stores.
 * @throws INVALID_CONFIGURATION when there are several catalogs
 */
export function requireSharedKeys(config: Config): void {
  if (config['cluster.secrets_key_file'] !== '' || config['catalog.internal_url'].length === 1) return;
  throw new SkeinError(
    'INVALID_CONFIGURATION',
    'cluster.secrets_key_file is not set, and this cluster has several catalogs: name a file that is the same for all of them (skein cluster ca makes one)',
  );
}

/** `asked` resolves at the first signal or when the launcher is gone, to `drain` or `stop`; `urged` at the second signal. */
type Ending = {
  readonly asked: Promise<'drain' | 'stop'>;
  readonly urged: Promise<void>;
  /** Has the service drain and end. */
  readonly drain: () => void;
};

function endOfService(): Ending {
  const asked = Promise.withResolvers<'drain' | 'stop'>();
  const urged = Promise.withResolvers<void>();
  let count = 0;
  let firstMs = 0;
  const ask = (how: 'drain' | 'stop'): void => {
    asked.resolve(how);
    count += 1;
    if (count === 1) firstMs = performance.now();
    else if (performance.now() - firstMs > SAME_SIGNAL_MS) urged.resolve();
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => ask(signal === 'SIGTERM' ? 'drain' : 'stop'));
  }
  process.once('disconnect', () => {
    asked.resolve('stop');
    urged.resolve();
  });
  return { asked: asked.promise, urged: urged.promise, drain: () => asked.resolve('drain') };
}

/** Resolves when the service must close: it was stopped, it has drained, or the drain timed out or was cut short. */
async function endOf({ drain }: Started, { asked, urged }: Ending, log: Logger): Promise<void> {
  const how = await Promise.race([asked, ...(drain === undefined ? [] : [drain.drained.then(() => 'stop' as const)])]);
  if (how === 'stop' || drain === undefined) return;
  log.info('draining');
  const timeout = new AbortController();
  const late = sleep(drain.timeoutMs, undefined, { signal: timeout.signal }).then(
    () => log.warn('not drained in time'),
    () => undefined,
  );
  await Promise.race([drain.run(), urged, late]);
  timeout.abort();
}

function report(message: ChildMessage, line: object): Promise<void> {
  if (process.send !== undefined) return tell(message);
  return new Promise((sent) => process.stdout.write(`${JSON.stringify(line)}\n`, () => sent()));
}

/** Sends a message to the supervisor, if there is one. */
function tell(message: ChildMessage): Promise<void> {
  return new Promise((sent) => {
    if (process.connected) process.send?.(message, () => sent());
    else sent();
  });
}

/** Maps an error without a code to START_FAILED: its text helps more than "internal error". */
function startError(name: ServiceName, thrown: unknown): SkeinError {
  if (thrown instanceof SkeinError) return thrown;
  const text = thrown instanceof Error ? thrown.message : String(thrown);
  return new SkeinError('START_FAILED', `${name} did not start: ${text}`, { cause: thrown });
}
