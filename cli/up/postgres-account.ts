import { execFileSync, spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import { SkeinError } from '#shared/error.ts';

/**
 * The account under which Postgres runs. Postgres refuses to run as root, so root selects another account: the owner of existing data,
 * else `postgres`, else `nobody`. That account may be unable to enter the folders above the data or above our packages (`mktemp -d`, a
 * home of mode 700); `setpriv` then grants it the one capability to traverse them.
 */
export type PostgresAccount = {
  /** User id; undefined for that of this process. */
  readonly uid: number | undefined;
  readonly gid: number | undefined;
  /** Command words that precede the program: empty, or `setpriv ... --`. */
  readonly prefix: readonly string[];
};

/** Search path for programs; the user's own PATH is ignored. */
export const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin';
/** Postgres ends when the process that started it dies, however that happens. */
const DEATH_SIGNAL = ['--pdeathsig', 'SIGINT'];
const CAPABILITIES = ['dac_read_search', 'dac_override'];
const ACCOUNTS = ['postgres', 'nobody'];

/**
 * `folders` must exist; each is entered as a test, and `program` is run with `--version`.
 * @throws START_FAILED naming the folder that cannot be entered
 */
export function postgresAccount(
  existingOwner: number | undefined,
  folders: readonly string[],
  program: string,
): PostgresAccount {
  const ownUid = process.getuid?.();
  if (ownUid !== 0) {
    const prefix = ['setpriv', ...DEATH_SIGNAL, '--'];
    return { uid: undefined, gid: undefined, prefix: runs(prefix, folders, program, {}) ? prefix : [] };
  }
  const { uid, gid } = accountIds(existingOwner);
  const identity = [`--reuid=${uid}`, `--regid=${gid}`, '--clear-groups', ...DEATH_SIGNAL];
  const candidates = [
    ['setpriv', ...identity, '--'],
    ...CAPABILITIES.map((name) => [
      'setpriv',
      ...identity,
      '--securebits=+no_setuid_fixup',
      `--inh-caps=+${name}`,
      `--ambient-caps=+${name}`,
      '--',
    ]),
  ];
  const prefix = candidates.find((words) => runs(words, folders, program, {}));
  if (prefix !== undefined) return { uid, gid, prefix };
  if (runs([], folders, program, { uid, gid })) return { uid, gid, prefix: [] };
  throw new SkeinError('START_FAILED', untraversable([...folders, dirname(program)], uid, gid));
}

/** Command words and `spawn` options that start a program under the account. */
export function asAccount(
  account: PostgresAccount,
  program: string,
  programArguments: readonly string[],
): { readonly file: string; readonly args: readonly string[]; readonly ids: { uid?: number; gid?: number } } {
  const [file = program, ...args] = [...account.prefix, program, ...programArguments];
  const plain = account.prefix.length === 0 && account.uid !== undefined && account.gid !== undefined;
  return { file, args, ids: plain ? { uid: account.uid, gid: account.gid } : {} };
}

function runs(
  prefix: readonly string[],
  folders: readonly string[],
  program: string,
  ids: { uid?: number; gid?: number },
): boolean {
  const script = 'for d in "$@"; do cd "$d" || exit 1; done; exec "$0" --version';
  const [file = '/bin/sh', ...args] = [...prefix, '/bin/sh', '-c', script, program, ...folders];
  const { status } = spawnSync(file, args, { stdio: 'ignore', env: { PATH: SYSTEM_PATH }, cwd: '/', ...ids });
  return status === 0;
}

function accountIds(existingOwner: number | undefined): { uid: number; gid: number } {
  if (existingOwner !== undefined && existingOwner !== 0) return { uid: existingOwner, gid: groupOf(existingOwner) };
  for (const name of ACCOUNTS) {
    const line = passwd().find((fields) => fields[0] === name);
    if (line !== undefined) return { uid: Number(line[2]), gid: Number(line[3]) };
  }
  throw new SkeinError(
    'START_FAILED',
    `Postgres does not run as root, and there is no account ${ACCOUNTS.join(' or ')}`,
  );
}

const groupOf = (uid: number): number => Number(passwd().find((fields) => fields[2] === String(uid))?.[3] ?? uid);

function passwd(): readonly (readonly string[])[] {
  try {
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'));
  } catch {
    return [];
  }
}

function untraversable(folders: readonly string[], uid: number, gid: number): string {
  for (const folder of folders) {
    const ancestors: string[] = [folder];
    for (let path = folder; dirname(path) !== path; path = dirname(path)) ancestors.unshift(dirname(path));
    const closed = ancestors.find((path) => !mayEnter(path, uid, gid));
    if (closed !== undefined) {
      return `Postgres runs as uid ${uid}, which cannot enter the folder ${closed}: open it (chmod o+x ${closed}), choose another --data-dir, install setpriv (util-linux), or do not run as root`;
    }
  }
  return `Postgres cannot be run as uid ${uid}`;
}

function mayEnter(path: string, uid: number, gid: number): boolean {
  const found = statSync(path);
  if (found.uid === uid) return (found.mode & 0o100) !== 0;
  if (found.gid === gid) return (found.mode & 0o010) !== 0;
  return (found.mode & 0o001) !== 0;
}

/** The command line of a process, or ''. */
export function commandOf(pid: number): string {
  try {
    return execFileSync('ps', ['-o', 'command=', '-p', String(pid)], { encoding: 'utf8', env: { PATH: SYSTEM_PATH } });
  } catch {
    return '';
  }
}
