import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Runs the service of a unit file as systemd would, as far as our units go: its variables, its account and its folder; it is started again
 * whenever it ends, and ends with this process on SIGTERM, by KillSignal and after TimeoutStopSec.
 */
const unit = readUnit(process.argv[2] ?? '');
const one = (key: string): string => unit.get(key)?.at(-1) ?? '';
/** In the place of RestartSec, which tests would only wait for. */
const RESTART_MS = 200;
let child: ChildProcess | undefined;
const stop = new AbortController();

function readUnit(path: string): ReadonlyMap<string, readonly string[]> {
  const lines = readFileSync(path, 'utf8').split('\n');
  const pairs = lines.flatMap((line) => {
    const [, key, value] = /^([A-Za-z]+)=(.*)$/.exec(line) ?? [];
    return key === undefined || value === undefined ? [] : [{ key, value }];
  });
  return new Map([...Map.groupBy(pairs, ({ key }) => key)].map(([key, all]) => [key, all.map(({ value }) => value)]));
}

function environment(): Record<string, string> {
  const files = (unit.get('EnvironmentFile') ?? []).flatMap((path) => readFileSync(path, 'utf8').split('\n'));
  const texts = [...(unit.get('Environment') ?? []), ...files.filter((line) => /^\w+=/.test(line))];
  const valueOf = (text: string): string => text.slice(text.indexOf('=') + 1).replace(/^"(.*)"$/, '$1');
  return Object.fromEntries(texts.map((text) => [text.slice(0, text.indexOf('=')), valueOf(text)]));
}

/** The words that make a process one of the unit's account. Where that account cannot read the program (a test below /root), root stays. */
function account(): readonly string[] {
  const user = one('User');
  if (user === '') return [];
  const words = ['setpriv', `--reuid=${user}`, `--regid=${one('Group') || user}`, '--clear-groups', '--'];
  const [file = '', ...args] = words;
  return spawnSync(file, [...args, 'test', '-r', process.argv[1] ?? '']).status === 0 ? words : [];
}

function stateFolder(user: string): void {
  const name = one('StateDirectory');
  if (name === '') return;
  const folder = join('/var/lib', name);
  if (!existsSync(folder)) mkdirSync(folder, { mode: 0o700 });
  const id = (flag: string): number => Number(spawnSync('id', [flag, user], { encoding: 'utf8' }).stdout);
  if (user !== '') chownSync(folder, id('-u'), id('-g'));
}

process.on('SIGTERM', () => {
  stop.abort();
  child?.kill((one('KillSignal') || 'SIGTERM') as NodeJS.Signals);
  setTimeout(() => child?.kill('SIGKILL'), Number(one('TimeoutStopSec') || 90) * 1_000).unref();
});
while (!stop.signal.aborted) {
  const as = account();
  stateFolder(as.length === 0 ? '' : one('User'));
  const values = environment();
  const path = values['PATH'] === undefined ? {} : { PATH: `${process.env['PATH']?.split(':')[0]}:${values['PATH']}` };
  const [file = '', ...args] = [...as, ...one('ExecStart').split(' ')];
  child = spawn(file, args, { stdio: 'inherit', cwd: '/', env: { ...process.env, ...values, ...path } });
  await once(child, 'exit');
  if (!stop.signal.aborted) await sleep(RESTART_MS);
}
