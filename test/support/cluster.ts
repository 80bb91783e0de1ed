import { spawn, type ChildProcess } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { setTimeout as sleep } from 'node:timers/promises';
import { callCatalog, mintToken, type TokenRequest } from '#cli/catalog-rpc.ts';
import { findCluster, type ReadyLine } from '#cli/cluster-file.ts';
import { runLoad } from '#cli/load/run-load.ts';
import { operatorSecurity } from '#cli/operator-security.ts';
import { serviceStates, type ServiceStatus } from '#cli/status.ts';
import { defaultConfig, type Config, type ConfigKey } from '#shared/config/config-schema.ts';
import { parseJson, printJson, type Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { TlsSettings } from './certificates.ts';
import { patience } from '#test/support/run/slowness.ts';

export type QueryRequest = {
  readonly token?: string;
  readonly timeoutMs?: number;
  readonly sessionId?: string;
  readonly queryId?: string;
  readonly source?: string;
  readonly signal?: AbortSignal;
  /** Values of the statement's parameters. */
  readonly parameters?: Json;
};

/** Answer of `POST /api/query`: the body as it is, its HTTP status, and the id of the query. */
export type QueryAnswer = { readonly status: number; readonly queryId: string; readonly body: QueryBody };
export type QueryBody = {
  readonly columns?: readonly string[];
  readonly types?: readonly string[];
  readonly rows?: readonly (readonly Json[])[];
  readonly row_count?: number;
  readonly elapsed_ms?: number;
  readonly error?: string;
  readonly message?: string;
  readonly sql_state?: string;
};
export type CliResult = { readonly code: number; readonly stdout: string; readonly stderr: string };

const ROOT = join(import.meta.dirname, '../..');
export const ADMIN_PASSWORD = 'Correct-Horse-9';
const START_TIMEOUT_MS = patience(60_000);
const STOP_TIMEOUT_MS = patience(15_000);
const EVENT_TIMEOUT_MS = patience(30_000);
const PID_WAIT_MS = patience(30_000);
const PID_POLL_MS = 20;

/** The resource groups of every cluster under test: those that the example ships, which keep tenants apart. */
const WORKLOAD_FILE = join(ROOT, 'workload.example.yaml');

/** The project's own folder: where every process of a test starts. */
export const projectRoot = ROOT;

type RunOptions = {
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
  /** It is ended (SIGTERM) when it runs longer: for a command that would go on if a test fails. */
  readonly timeoutMs?: number;
};

/** Runs a command to its end and answers what it printed; never throws for an exit code. */
export async function run(
  command: string,
  args: readonly string[],
  options: RunOptions & { readonly cwd?: string } = {},
): Promise<CliResult> {
  const child = spawn(command, [...args], {
    cwd: options.cwd ?? ROOT,
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
    ...(options.timeoutMs === undefined ? {} : { timeout: options.timeoutMs }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  child.stdin.on('error', () => undefined);
  child.stdin.end(options.input ?? '');
  const [code] = (await once(child, 'close')) as [number | null];
  return { code: code ?? -1, stdout, stderr };
}

const SKEIN = ['--disable-warning=ExperimentalWarning', join(ROOT, 'cli/skein.js')] as const;

/** `skein <args>` as its own process, with the Node that runs this test. */
export const skein = (args: readonly string[], options: RunOptions = {}): Promise<CliResult> =>
  run(process.execPath, [...SKEIN, ...args], options);

/** A running cluster as a test uses it: the processes that `npm start` starts, whoever has started them. */
export class Cluster {
  readonly ready: ReadyLine;
  readonly #tls: TlsSettings | undefined;
  #adminToken: Promise<string> | undefined;

  constructor(ready: ReadyLine, tls?: TlsSettings) {
    this.ready = ready;
    this.#tls = tls;
  }

  get catalogUrl(): string {
    return this.ready.catalog_url;
  }

  get queryUrl(): string {
    return this.ready.query_url;
  }

  get dataDir(): string {
    return this.ready.data_dir;
  }

  /** `skein <args> --data-dir <this cluster's>`. */
  cli(args: readonly string[], env: Readonly<Record<string, string>> = {}, input = ''): Promise<CliResult> {
    return skein([...args, '--data-dir', this.dataDir], { env, input });
  }

  /** As `cli`, but throws with the output when the exit code is not 0. */
  async cliOk(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<string> {
    const result = await this.cli(args, env);
    if (result.code !== 0) {
      throw new Error(`skein ${args.join(' ')}: exit ${result.code}\n${result.stdout}${result.stderr}`);
    }
    return result.stdout;
  }

  /** The administrator's token (kept), or one of another user, life or scope. */
  token(request?: TokenRequest): Promise<string> {
    if (request !== undefined) return this.#mint(request);
    this.#adminToken ??= this.#mint({});
    return this.#adminToken;
  }

  async #mint(request: TokenRequest): Promise<string> {
    const { services } = findCluster(this.dataDir);
    const { tenant, user } = this.ready;
    using security = operatorSecurity(defaultConfig({ ...this.#tls, data_dir: this.dataDir }));
    return await mintToken({ internalUrl: services.catalog_internal_url, security, tenant, user }, request);
  }

  /** `skein load <args>`, in this process. @throws when it fails, with its messages */
  async load(args: readonly string[], overrides: Partial<Config> = {}): Promise<void> {
    const output = new PassThrough().setEncoding('utf8');
    let text = '';
    output.on('data', (part: string) => (text += part));
    using security = operatorSecurity(defaultConfig({ ...this.#tls, data_dir: this.dataDir }));
    const target = { internalUrl: findCluster(this.dataDir).services.catalog_internal_url, security };
    const code = await runLoad(args, {
      config: defaultConfig({ data_dir: this.dataDir, ...overrides }),
      connect: async () => ({
        catalogUrl: this.catalogUrl,
        token: await this.token(),
        call: (method, request) => callCatalog(target, method, request),
      }),
      stdout: output,
      stderr: output,
      isTty: false,
      signal: new AbortController().signal,
    });
    if (code !== 0) throw new Error(`skein load ${args.join(' ')}: exit ${code}\n${text}`);
  }

  /** Every service of the cluster, as `skein status` tells of them. */
  services(): Promise<readonly ServiceStatus[]> {
    return serviceStates(defaultConfig({ data_dir: this.dataDir }));
  }

  /**
   * The process of a service; of several workers the first. Waits while the service is started again, because its pid is 0 then, and a
   * signal to 0 goes to the test run itself. @throws when none runs within `PID_WAIT_MS`
   */
  async pidOf(kind: ServiceStatus['kind']): Promise<number> {
    for (const deadline = performance.now() + PID_WAIT_MS; ; await sleep(PID_POLL_MS)) {
      const pid = (await this.services()).find((service) => service.kind === kind)?.pid ?? 0;
      if (pid > 0) return pid;
      if (performance.now() > deadline) throw new Error(`no ${kind} runs`);
    }
  }

  /** Where each worker's metrics are read, as the launcher knows it now. */
  workers(): readonly WorkerAddress[] {
    return findCluster(this.dataDir).services.services.flatMap(({ kind, name, pid, metrics_url: metricsUrl }) =>
      kind === 'worker' && metricsUrl !== undefined ? [{ name, pid, metricsUrl }] : [],
    );
  }

  /** Sends one statement; an error of the service is an answer too. Rejects only when the connection breaks. */
  async query(sql: string, request: QueryRequest = {}): Promise<QueryAnswer> {
    const response = await fetch(`${this.queryUrl}/api/query`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        authorization: `Bearer ${request.token ?? (await this.token())}`,
        ...(request.sessionId === undefined ? {} : { 'x-skein-session': request.sessionId }),
        ...(request.queryId === undefined ? {} : { 'x-skein-query-id': request.queryId }),
        ...(request.source === undefined ? {} : { 'x-skein-source': request.source }),
      },
      body: printJson({
        sql,
        ...(request.timeoutMs === undefined ? {} : { timeout_ms: request.timeoutMs }),
        ...(request.parameters === undefined ? {} : { parameters: request.parameters }),
      }),
      ...(request.signal === undefined ? {} : { signal: request.signal }),
    });
    const text = await response.text();
    return {
      status: response.status,
      queryId: response.headers.get('x-skein-query-id') ?? '',
      body: parseJson(text) as QueryBody,
    };
  }

  /** The rows of a statement that must succeed. */
  async sql(sql: string, request: QueryRequest = {}): Promise<readonly (readonly Json[])[]> {
    const { status, body } = await this.query(sql, request);
    if (status !== 200) throw new Error(`${body.error} (${body.sql_state}): ${body.message}\n${sql.slice(0, 2_000)}`);
    return must(body.rows, 'a result has rows');
  }

  /** `GET` (or another method) on the catalog with the administrator's token. */
  async catalog(method: string, path: string, body?: Json): Promise<{ readonly status: number; readonly body: Json }> {
    const response = await fetch(`${this.catalogUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${await this.token()}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: printJson(body) }),
    });
    const text = await response.text();
    return { status: response.status, body: text === '' ? null : parseJson(text) };
  }
}

/** Settings as variables of an environment. */
export const settingsEnv = (settings: Partial<Readonly<Record<ConfigKey, string>>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(settings).map(([key, value]) => [`SKEIN_${key.replaceAll('.', '_').toUpperCase()}`, value]),
  );

export type WorkerAddress = { readonly name: string; readonly pid: number; readonly metricsUrl: string };

/** A line that the launcher prints on standard output: `ready`, `exited`, `restarted`, ... */
export type LauncherEvent = { readonly event: string; readonly [key: string]: Json };

/** A cluster that the test has started, and stops. */
export class StartedCluster extends Cluster implements AsyncDisposable {
  readonly child: ChildProcess;
  readonly #output: LauncherOutput;
  readonly #afterStop: () => Promise<void>;

  constructor(
    ready: ReadyLine,
    { child, tls }: { readonly child: ChildProcess; readonly tls: TlsSettings | undefined },
    output: LauncherOutput,
    afterStop: () => Promise<void>,
  ) {
    super(ready, tls);
    this.child = child;
    this.#output = output;
    this.#afterStop = afterStop;
  }

  /** Everything that the launcher and its children have logged so far. */
  get log(): string {
    return this.#output.log;
  }

  /** The first event, from the start of the cluster on, that fulfils `condition`. @throws after `timeoutMs` */
  event(condition: (event: LauncherEvent) => boolean, timeoutMs = EVENT_TIMEOUT_MS): Promise<LauncherEvent> {
    return this.#output.event(condition, timeoutMs);
  }

  /** Stops every process, and removes the folder and the database that were made for it; answers the exit code of `skein up`. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<number | null> {
    if (this.child.exitCode === null && this.child.signalCode === null) {
      const closed = once(this.child, 'close', { signal: AbortSignal.timeout(STOP_TIMEOUT_MS) });
      this.child.kill(signal);
      try {
        await closed;
      } catch {
        this.child.kill('SIGKILL');
        throw new Error(`skein up did not stop within ${STOP_TIMEOUT_MS} ms\n${this.log.slice(-4_000)}`);
      }
    }
    await this.#afterStop();
    return this.child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Both outputs of `skein up`, kept, and whoever waits for one of its events. */
class LauncherOutput {
  log = '';
  readonly #events: LauncherEvent[] = [];
  readonly #added = new EventEmitter().setMaxListeners(0);

  constructor(child: ChildProcess) {
    must(child.stderr, 'a pipe')
      .setEncoding('utf8')
      .on('data', (text: string) => (this.log += text));
    createInterface({ input: must(child.stdout, 'a pipe') }).on('line', (line) => {
      this.#events.push(parseJson(line) as LauncherEvent);
      this.#added.emit('event');
    });
  }

  async event(condition: (event: LauncherEvent) => boolean, timeoutMs: number): Promise<LauncherEvent> {
    const signal = AbortSignal.timeout(timeoutMs);
    for (;;) {
      const found = this.#events.find(condition);
      if (found !== undefined) return found;
      try {
        await once(this.#added, 'event', { signal });
      } catch {
        throw new Error(`no such event of skein up within ${timeoutMs} ms\n${this.log.slice(-8_000)}`);
      }
    }
  }
}

export type ClusterOptions = {
  readonly workers?: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** The certificates of its services; without them its channels are plaintext on loopback. */
  readonly tls?: TlsSettings;
  /** Kept by `stop()` when it is given. */
  readonly dataDir?: string;
  /** How long it may take; more than the default only in a test that lasts longer. */
  readonly startTimeoutMs?: number;
  /** Called when it has been stopped. */
  readonly onStopped?: () => Promise<void>;
};

/**
 * Starts a cluster on free ports, in a temporary data directory with a Postgres of its own unless `env` names one, and waits for its ready
 * line. A suite calls `startOwnCluster` of `resources.ts` instead. @throws with all that it logged when it does not come
 */
export async function startCluster(options: ClusterOptions = {}): Promise<StartedCluster> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'skein-test-')));
  const args = ['up', '--data-dir', dataDir, '--port-base', '0', '--workers', String(options.workers ?? 2)];
  const child = spawn(process.execPath, [...SKEIN, ...args, ...(options.args ?? [])], {
    cwd: ROOT,
    env: {
      ...process.env,
      SKEIN_ADMIN_PASSWORD: ADMIN_PASSWORD,
      SKEIN_COORDINATOR_WORKLOAD_FILE: WORKLOAD_FILE,
      ...settingsEnv(options.tls ?? {}),
      ...options.env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = new LauncherOutput(child);
  const afterStop = async (): Promise<void> => {
    if (options.dataDir === undefined) await rm(dataDir, { recursive: true, force: true, maxRetries: 3 });
    await options.onStopped?.();
  };
  try {
    const timeoutMs = options.startTimeoutMs ?? START_TIMEOUT_MS;
    const ended = once(child, 'close').then(([code]) => ({ event: 'failed', message: `exit ${String(code)}` }));
    const first = await Promise.race([
      output.event(({ event }) => event === 'ready' || event === 'failed', timeoutMs),
      ended,
    ]);
    if (first.event !== 'ready') throw new Error(`skein up: ${printJson(first)}\n${output.log.slice(-8_000)}`);
    return new StartedCluster(first as unknown as ReadyLine, { child, tls: options.tls }, output, afterStop);
  } catch (error) {
    child.kill('SIGKILL');
    await afterStop();
    throw error;
  }
}
