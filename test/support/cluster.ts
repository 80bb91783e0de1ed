import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseJson, printJson, type Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';

/** The line that `skein up` prints when every service answers. */
export type ReadyLine = {
  readonly event: 'ready';
  readonly catalog_url: string;
  readonly query_url: string;
  readonly tenant: string;
  readonly catalog: string;
  readonly user: string;
  readonly workers: number;
  readonly data_dir: string;
  readonly pid: number;
};

export type QueryRequest = {
  readonly token?: string;
  readonly timeoutMs?: number;
  readonly sessionId?: string;
  readonly queryId?: string;
  readonly signal?: AbortSignal;
};

/** What `POST /api/query` answered: the body as it is, its HTTP status, and the id of the query. */
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
const ADMIN_PASSWORD = 'Correct-Horse-9';
const START_TIMEOUT_MS = 60_000;
const STOP_TIMEOUT_MS = 15_000;

/** The project's own folder: where every process of a test starts. */
export const projectRoot = ROOT;

/** Runs a command to its end and answers what it printed; never throws for an exit code. */
export async function run(
  command: string,
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly input?: string; readonly cwd?: string } = {},
): Promise<CliResult> {
  const child = spawn(command, [...args], {
    cwd: options.cwd ?? ROOT,
    env: { ...process.env, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe'],
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
export const skein = (
  args: readonly string[],
  options: { readonly env?: Readonly<Record<string, string>>; readonly input?: string } = {},
): Promise<CliResult> => run(process.execPath, [...SKEIN, ...args], options);

/** A real cluster of its own: the processes that `npm start` starts, on free ports, in a temporary data directory. */
export class Cluster implements AsyncDisposable {
  readonly ready: ReadyLine;
  readonly child: ChildProcess;
  readonly #stderr: () => string;
  readonly #ownsDataDir: boolean;
  #adminToken: Promise<string> | undefined;

  constructor(ready: ReadyLine, child: ChildProcess, stderr: () => string, ownsDataDir: boolean) {
    this.ready = ready;
    this.child = child;
    this.#stderr = stderr;
    this.#ownsDataDir = ownsDataDir;
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

  /** Everything that the launcher and its children have logged so far. */
  get log(): string {
    return this.#stderr();
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

  /** The administrator's token (kept), or one made with other arguments of `skein token`. */
  token(...args: readonly string[]): Promise<string> {
    if (args.length > 0) return this.cliOk(['token', ...args]).then((text) => text.trim());
    this.#adminToken ??= this.cliOk(['token']).then((text) => text.trim());
    return this.#adminToken;
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
      },
      body: printJson({ sql, ...(request.timeoutMs === undefined ? {} : { timeout_ms: request.timeoutMs }) }),
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

  /** Stops every process and, unless the folder was given, removes it; answers the exit code of `skein up`. */
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
    if (this.#ownsDataDir) await rm(this.dataDir, { recursive: true, force: true, maxRetries: 3 });
    return this.child.exitCode;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

export type ClusterOptions = {
  readonly workers?: number;
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  /** Kept by `stop()` when it is given. */
  readonly dataDir?: string;
  /** How long it may take; more than the default only in a test that lasts longer. */
  readonly startTimeoutMs?: number;
};

/** Starts a cluster and waits for its ready line. Throws with all that it logged when it does not come. */
export async function startCluster(options: ClusterOptions = {}): Promise<Cluster> {
  const dataDir = options.dataDir ?? (await mkdtemp(join(tmpdir(), 'skein-test-')));
  const args = ['up', '--data-dir', dataDir, '--port-base', '0', '--workers', String(options.workers ?? 2)];
  const child = spawn(process.execPath, [...SKEIN, ...args, ...(options.args ?? [])], {
    cwd: ROOT,
    env: { ...process.env, SKEIN_ADMIN_PASSWORD: ADMIN_PASSWORD, ...options.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const failed = (why: string): Error => {
    child.kill('SIGKILL');
    return new Error(`skein up: ${why}\n${stderr.slice(-8_000)}`);
  };
  const timeoutMs = options.startTimeoutMs ?? START_TIMEOUT_MS;
  const ready = await new Promise<ReadyLine>((resolve, reject) => {
    const timer = setTimeout(() => reject(failed(`not ready after ${timeoutMs} ms`)), timeoutMs);
    child.once('close', (code) => reject(failed(`exit ${code} before it was ready`)));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const message = parseJson(line) as { event?: string; message?: string };
      if (message.event === 'failed') reject(failed(message.message ?? line));
      if (message.event !== 'ready') return;
      clearTimeout(timer);
      child.removeAllListeners('close');
      resolve(message as ReadyLine);
    });
  });
  return new Cluster(ready, child, () => stderr, options.dataDir === undefined);
}
