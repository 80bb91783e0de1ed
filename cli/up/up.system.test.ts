import { execFile, spawn, type ChildProcess } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DuckDBInstance } from '@duckdb/node-api';
import { afterAll, afterEach, describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { ReadyLine } from '../cluster-file.ts';
import type { ServiceStatus } from '../status.ts';
import { processIdentity, waitUntil } from '../process-identity.ts';
import { patience } from '#test/support/run/slowness.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const SKEIN = join(ROOT, 'cli', 'skein.js');
/** An idle machine takes eight seconds, a busy one longer. */
const READY_MS = 60_000;
const STOP_MS = 5_000;
const ORPHANS_MS = 15_000;
/** Runs for minutes on any machine. */
const LONG = 'SELECT sum(hash(i)) FROM range(1000000000000) t(i)';

type Line = { readonly event: string; readonly [key: string]: unknown };
type Up = {
  readonly child: ChildProcess;
  readonly lines: readonly Line[];
  readonly stderr: () => string;
  /** Exit code, or the signal that ended it. */
  readonly exit: Promise<number | NodeJS.Signals>;
};

const folders: string[] = [];
const children: ChildProcess[] = [];
/** Mode 700, as mktemp makes it: Postgres runs under another account when we are root. */
const newFolder = (): string => {
  const folder = mkdtempSync(join(tmpdir(), 'skein-up-'));
  folders.push(folder);
  return folder;
};

/** `skein up`, or with `npm` `npm start`, in a process group of its own. */
function up(args: readonly string[], how: 'node' | 'npm' = 'node'): Up {
  const [file, words] =
    how === 'npm'
      ? ['npm', ['start', '--silent', '--', ...args]]
      : [process.execPath, ['--disable-warning=ExperimentalWarning', SKEIN, 'up', ...args]];
  const child = spawn(file, words, { cwd: ROOT, detached: true, stdio: ['ignore', 'pipe', 'pipe'] });
  children.push(child);
  const lines: Line[] = [];
  let rest = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    // A line that is no JSON fails the test that reads it.
    for (const part of parts) lines.push(JSON.parse(part) as Line);
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const exit = new Promise<number | NodeJS.Signals>((resolve) => {
    child.once('close', (code, signal) => resolve(code ?? must(signal, 'a process ends with a code or a signal')));
  });
  return { child, lines, stderr: () => stderr, exit };
}

const cluster = (dataDir: string): readonly string[] => [
  '--data-dir',
  dataDir,
  '--port-base',
  '0',
  '--worker-memory',
  '512MB',
];
const find = ({ lines }: Up, event: string): Line | undefined => lines.find((line) => line.event === event);

async function ready(started: Up): Promise<ReadyLine> {
  await waitUntil(() => find(started, 'ready') !== undefined || find(started, 'failed') !== undefined, READY_MS);
  const seen = JSON.stringify(started.lines);
  return must(find(started, 'ready'), `a ready line; ${seen}; ${started.stderr()}`) as unknown as ReadyLine;
}

function skein(...args: readonly string[]): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ['--disable-warning=ExperimentalWarning', SKEIN, ...args], (error, stdout, stderr) => {
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr });
    });
  });
}

async function services(dataDir: string): Promise<readonly ServiceStatus[]> {
  const { stdout } = await skein('status', '--json', '--data-dir', dataDir);
  return (JSON.parse(stdout) as { services: readonly ServiceStatus[] }).services;
}

/** The processes that have the folder in their environment or command line, but not this one. */
function processesOf(dataDir: string): readonly number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        const texts = ['environ', 'cmdline'].map((file) => readFileSync(`/proc/${name}/${file}`, 'latin1'));
        return texts.some((text) => text.includes(dataDir)) && processIdentity(Number(name)) !== undefined;
      } catch {
        return false;
      }
    })
    .map(Number);
}

/** Checks that a stopped cluster leaves no process, no lock, no `ready.json` and no temporary file. */
function expectNothingLeft(dataDir: string): void {
  expect(processesOf(dataDir)).toEqual([]);
  const kept = [
    'catalogs',
    'disk-cache',
    'format.json',
    'history',
    'logs',
    'postgres',
    'secrets',
    'spill',
    'tmp',
    'warehouse',
  ];
  expect(readdirSync(dataDir).sort()).toEqual(kept);
  for (const folder of ['spill', 'tmp']) expect(readdirSync(join(dataDir, folder))).toEqual([]);
  // Objects of buckets outlive a stop, and this warehouse has none; copies of local files do not.
  const cached = readdirSync(join(dataDir, 'disk-cache'), { recursive: true, withFileTypes: true });
  expect(cached.filter((one) => !one.isDirectory()).map(({ name }) => name)).toEqual([]);
  expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(false);
}

async function rowsOf(dataDir: string, sql: string): Promise<string> {
  const { stdout, stderr, code } = await skein('sql', '--data-dir', dataDir, '--format', 'csv', '-e', sql);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  return stdout;
}

/** Appends rows with these ids to `lake.default.kept`; the command has ended when the commit has. */
async function store(
  dataDir: string,
  ids: { readonly from: number; readonly to: number },
  ...flags: string[]
): Promise<void> {
  const file = join(newFolder(), 'rows.parquet');
  const duckdb = await (await DuckDBInstance.create()).connect();
  await duckdb.run(`COPY (SELECT id, 'row ' || id AS text FROM range(${ids.from}, ${ids.to}) r(id)) TO '${file}'`);
  const args = ['load', 'parquet', file, '--table', 'lake.default.kept', '--data-dir', dataDir, ...flags];
  const { code, stderr } = await skein(...args);
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
}

/** Counts the rows of `lake.default.kept`, adds up their ids, and counts those that have their own text. */
const kept = (dataDir: string): Promise<string> =>
  rowsOf(
    dataDir,
    "SELECT count(*) AS n, sum(id) AS s, count(*) FILTER (text = 'row ' || id) AS t FROM lake.default.kept",
  );

const stopwatch = (): (() => number) => {
  const start = performance.now();
  return () => performance.now() - start;
};

afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode === null && child.signalCode === null) child.kill('SIGTERM');
  }
  await Promise.all(folders.map((folder) => waitUntil(() => processesOf(folder).length === 0, ORPHANS_MS)));
});
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe.sequential('one data directory through its life', () => {
  // Made by the first start.
  const dataDir = join(newFolder(), 'data');
  const KEPT = ['.', 'catalogs', 'disk-cache', 'logs', 'secrets', 'spill', 'warehouse'];
  const modes = (): readonly string[] =>
    KEPT.map((name) => `${name} ${(statSync(join(dataDir, name)).mode & 0o777).toString(8)}`);
  let password: unknown;

  test('npm start: ready line, every service, restart of what dies; SIGTERM to npm stops everything', async () => {
    const started = up(cluster(dataDir), 'npm');
    const line = await ready(started);
    expect(Object.keys(line).join(' ')).toBe(
      'event catalog_url query_url console_url flight_sql_url postgres_url tls_ca tenant catalog user workers data_dir pid',
    );
    expect(line).toMatchObject({ tenant: 'default', catalog: 'lake', user: 'admin', workers: 2, data_dir: dataDir });
    expect(JSON.parse(readFileSync(join(dataDir, 'ready.json'), 'utf8'))).toEqual(line);
    expect(processIdentity(line.pid)).toBeDefined();
    expect(line.pid).not.toBe(started.child.pid);
    await waitUntil(() => find(started, 'admin_password') !== undefined, 1_000);
    password = find(started, 'admin_password')?.['password'];
    expect(started.stderr().split(String(password))).toHaveLength(2);
    expect(modes()).toEqual(KEPT.map((name) => `${name} 700`));
    expect(statSync(join(dataDir, 'secrets', 'cluster-secret')).mode & 0o777).toBe(0o600);

    const before = await services(dataDir);
    expect(before.map(({ name, state }) => `${name} ${state}`).join(', ')).toBe(
      'postgres up, catalog up, coordinator up, worker-1 up, worker-2 up',
    );
    expect(await rowsOf(dataDir, 'SELECT 41 + 1 AS x')).toBe('x\n42\n');

    for (const name of ['worker-1', 'catalog', 'coordinator', 'postgres']) await expectRestart(started, dataDir, name);
    expect(await rowsOf(dataDir, 'SELECT 2 AS x')).toBe('x\n2\n');
    await store(dataDir, { from: 0, to: 100 }, '--create');

    const stopped = stopwatch();
    started.child.kill('SIGTERM');
    expect(await started.exit).toBe(0);
    expect(stopped()).toBeLessThan(STOP_MS * machineSlowness());
    expectNothingLeft(dataDir);
  }, 180_000);

  test('a second start finds what the first one made; one data directory has one cluster; signals to the group while a query runs', async () => {
    // The state that an earlier release left behind.
    for (const name of ['.', 'catalogs', 'warehouse']) chmodSync(join(dataDir, name), 0o755);
    const started = up(cluster(dataDir));
    await ready(started);
    expect(modes()).toEqual(KEPT.map((name) => `${name} 700`));
    expect(find(started, 'admin_password')).toBeUndefined();
    expect(await kept(dataDir)).toBe('n,s,t\n100,4950,100\n');

    const second = up(cluster(dataDir));
    expect(await second.exit).toBe(1);
    expect(second.lines).toEqual([
      { event: 'failed', code: 'DATA_DIR_IN_USE', message: expect.stringContaining(dataDir) },
    ]);
    expect(second.stderr().trim().split('\n')).toHaveLength(1);

    const running = skein('sql', '--data-dir', dataDir, '-e', LONG);
    const queries = async (): Promise<string> =>
      (await skein('sql', '--data-dir', dataDir, '-e', 'SHOW QUERIES')).stdout;
    await expect.poll(queries, { timeout: patience(30_000) }).toContain('range(1000000000000)');
    const stopped = stopwatch();
    // Several signals of different kinds count as one stop.
    for (const signal of ['SIGINT', 'SIGINT', 'SIGTERM'] as const)
      process.kill(-must(started.child.pid, 'pid'), signal);
    expect(await started.exit).toBe(0);
    expect(stopped()).toBeLessThan(STOP_MS * machineSlowness());
    // Waits for `skein sql` to end, because its command line names the data directory, too.
    expect((await running).code).toBe(1);
    expectNothingLeft(dataDir);
  });

  test('the children of a killed launcher end, and the next start cleans up; skein down', async () => {
    const killed = up(cluster(dataDir));
    await ready(killed);
    killed.child.kill('SIGKILL');
    await killed.exit;
    expect((await skein('status', '--data-dir', dataDir)).code).toBe(3);
    expect(await waitUntil(() => processesOf(dataDir).length === 0, ORPHANS_MS)).toBe(true);

    const again = up(cluster(dataDir));
    const { pid } = await ready(again);
    expect(find(again, 'admin_password')).toBeUndefined();
    expect(pid).toBe(again.child.pid);
    // One that does not end is killed, and leaves its folders to the launcher.
    const workers = (await services(dataDir)).filter(({ kind }) => kind === 'worker');
    process.kill(must(workers.at(-1)?.pid, 'the pid of a worker'), 'SIGSTOP');
    expect((await skein('down', '--data-dir', dataDir)).code).toBe(0);
    expect(await again.exit).toBe(0);
    expectNothingLeft(dataDir);
    expect((await skein('down', '--data-dir', dataDir)).code).toBe(3);
  }, 150_000);

  test('after kill -9 of every process a start at once finds all data', async () => {
    const killed = up(cluster(dataDir));
    await ready(killed);
    await store(dataDir, { from: 100, to: 1_000 });
    const client = await skein('admin', 'client', 'create', 'kept', '--data-dir', dataDir);
    expect(client.code).toBe(0);
    for (const pid of processesOf(dataDir)) process.kill(pid, 'SIGKILL');
    await killed.exit;
    // Its pid belongs to another process by now.
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid');
    writeFileSync(pidFile, readFileSync(pidFile, 'utf8').replace(/^\d+/, String(process.pid)));
    const again = up(cluster(dataDir));
    await ready(again);
    expect(find(again, 'admin_password')).toBeUndefined();
    expect(await kept(dataDir)).toBe('n,s,t\n1000,499500,1000\n');
    expect((await skein('admin', 'client', 'list', '--data-dir', dataDir)).stdout).toMatch(/\bkept\b/);
    await store(dataDir, { from: 1_000, to: 1_001 });
    expect(await kept(dataDir)).toBe('n,s,t\n1001,500500,1001\n');
    again.child.kill('SIGINT');
    expect(await again.exit).toBe(0);
    expectNothingLeft(dataDir);
  }, 150_000);
});

async function expectRestart(started: Up, dataDir: string, name: string): Promise<void> {
  const before = must(
    (await services(dataDir)).find((service) => service.name === name),
    'the service is listed',
  );
  process.kill(before.pid, 'SIGKILL');
  const restarted = (): boolean => started.lines.some((line) => line.event === 'restarted' && line['service'] === name);
  expect(await waitUntil(restarted, 30_000), `${name} is restarted: ${started.stderr()}`).toBe(true);
  expect(started.lines.some((line) => line.event === 'exited' && line['service'] === name)).toBe(true);
  const after = (await services(dataDir)).find((service) => service.name === name);
  expect(after).toMatchObject({ url: before.url, state: 'up' });
  expect(after?.pid).not.toBe(before.pid);
}

test('a port in use is one clear line', async () => {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  const dataDir = newFolder();
  const started = up(['--data-dir', dataDir, '--port-base', String(port)]);
  expect(await started.exit).toBe(1);
  expect(started.lines).toEqual([
    { event: 'failed', code: 'PORT_IN_USE', message: expect.stringContaining(`port ${port} `) },
  ]);
  expect(started.stderr().trim().split('\n')).toHaveLength(1);
  expect(readdirSync(dataDir)).toEqual([]);
  server.close();
});

test.each([
  [['--workers', '0'], 'up.workers (flag --workers): expected an integer from 1'],
  [['--worker-memory', '9000TB'], 'worker.memory_limit (flag --worker-memory) is more than this machine has'],
  [['--wrokers', '3'], 'unknown flag --wrokers; did you mean --workers?'],
  [['--set', 'worker.memory_limt=1GB'], 'did you mean worker.memory_limit?'],
  [['--host', '203.0.113.7'], '203.0.113.7 is not an address of this machine'],
])('%j is refused with its reason', async (flags, message) => {
  const dataDir = newFolder();
  const started = up(['--data-dir', dataDir, '--port-base', '0', ...flags]);
  expect(await started.exit).toBe(2);
  expect(started.lines).toEqual([
    { event: 'failed', code: 'INVALID_CONFIGURATION', message: expect.stringContaining(message) },
  ]);
  expect(started.stderr()).toContain(message);
});

test.each([
  ['/dev/null/x', '/dev/null/x/format.json cannot be read: ENOTDIR'],
  // Below /proc the system says that the parent is missing, at which Node's recursive mkdir tries again for ever.
  ['/proc/x', 'cannot make the data directory /proc/x: ENOENT'],
])('%s, a folder that cannot be made, is one clear line', async (dataDir, message) => {
  const started = up(['--data-dir', dataDir, '--port-base', '0']);
  expect(await started.exit).toBe(1);
  expect(started.lines).toEqual([{ event: 'failed', code: 'START_FAILED', message: expect.stringContaining(message) }]);
});

test('a signal during the start leaves nothing behind', async () => {
  const dataDir = newFolder();
  const started = up(cluster(dataDir));
  expect(await waitUntil(() => existsSync(join(dataDir, 'services.json')), READY_MS)).toBe(true);
  started.child.kill('SIGTERM');
  expect(await started.exit).toBe(0);
  expect(find(started, 'failed')).toBeUndefined();
  expect(processesOf(dataDir)).toEqual([]);
  expect(existsSync(join(dataDir, 'lock'))).toBe(false);
});
