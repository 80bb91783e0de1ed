import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { secretPath } from '#cli/secrets.ts';
import { must } from '#shared/must.ts';
import type { TlsSettings } from './certificates.ts';
import { projectRoot, settingsEnv } from './cluster.ts';
import type { Etcd } from './etcd.ts';
import type { NetworkMember } from './network-namespaces.ts';

/** Workers on other addresses than loopback require it for their metrics. */
const METRICS_TOKEN = 'metrics-of-the-chaos-suite';
export const WORKER_ENVIRONMENT = {
  SKEIN_METRICS_TOKEN: METRICS_TOKEN,
  SKEIN_WORKER_CORES: '1',
  SKEIN_WORKER_MEMORY_LIMIT: '1GiB',
};

type Surroundings = { readonly etcd: Etcd; readonly host: string; readonly dataDir: string; readonly tls: TlsSettings };

/** `skein worker` in a network namespace, started again when it dies, as an operator's supervisor does it. */
export class NamespacedWorker implements AsyncDisposable {
  readonly #name: string;
  readonly #member: NetworkMember;
  readonly #at: Surroundings;
  #child: ChildProcess | undefined;
  #pid: number | undefined;
  #metricsUrl: string | undefined;
  #closing = false;

  constructor(name: string, member: NetworkMember, at: Surroundings) {
    this.#name = name;
    this.#member = member;
    this.#at = at;
  }

  async start(): Promise<void> {
    const { etcd, host, dataDir, tls } = this.#at;
    const skein = ['--disable-warning=ExperimentalWarning', join(projectRoot, 'cli/skein.js'), 'worker', '--bare'];
    const child = spawn('ip', ['netns', 'exec', this.#member.name, process.execPath, ...skein], {
      cwd: projectRoot,
      env: {
        ...process.env,
        ...WORKER_ENVIRONMENT,
        UV_THREADPOOL_SIZE: '16',
        ETCD_ENDPOINTS: etcd.endpoint.replace('127.0.0.1', host),
        SKEIN_DATA_DIR: dataDir,
        ...settingsEnv(tls),
        SKEIN_CLUSTER_SECRET_FILE: secretPath(dataDir, 'cluster-secret'),
        SKEIN_INTERNAL_HOST: this.#member.address,
        SKEIN_WORKER_NAME: this.#name,
        SKEIN_LOG_LEVEL: 'warn',
      },
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    this.#child = child;
    this.#pid = child.pid;
    child.once('exit', () => {
      if (!this.#closing) void this.start();
    });
    const lines = createInterface({ input: must(child.stdout, 'a pipe') });
    const [line] = (await Promise.race([once(lines, 'line'), once(child, 'exit').then(() => [''])])) as [string];
    this.#metricsUrl = line === '' ? undefined : (JSON.parse(line) as { metrics_url?: string }).metrics_url;
  }

  /** `ip netns exec` becomes the process that it starts. */
  get pid(): number | undefined {
    return this.#pid;
  }

  get member(): NetworkMember {
    return this.#member;
  }

  get name(): string {
    return this.#name;
  }

  /** Its `/metrics`, as text; undefined while it does not answer. */
  metrics(): Promise<string | undefined> {
    return this.#metricsUrl === undefined ? Promise.resolve(undefined) : readPage(this.#metricsUrl);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing = true;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const exited = once(child, 'exit');
    child.kill('SIGKILL');
    await exited;
  }
}

export const readPage = (url: string): Promise<string | undefined> =>
  fetch(url, { headers: { authorization: `Bearer ${METRICS_TOKEN}` }, signal: AbortSignal.timeout(2_000) }).then(
    (response) => response.text(),
    () => undefined,
  );
