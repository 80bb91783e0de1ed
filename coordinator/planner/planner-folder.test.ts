import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, symlinkSync, utimesSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { silentLogger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';
import { PlannerFolder, removeAbandonedFolders } from './planner-folder.ts';
import { PlannerHost } from './planner-host.ts';
import { patience } from '#test/support/run/slowness.ts';

let parent: string;
beforeEach(() => {
  parent = mkdtempSync(join(tmpdir(), 'skein-test-'));
});
afterEach(() => rmSync(parent, { recursive: true, force: true }));

const HOUR_S = 3_600;
const made = (): string => new PlannerFolder(parent).path;
const makeOld = (path: string): void => utimesSync(path, Date.now() / 1_000 - HOUR_S, Date.now() / 1_000 - HOUR_S);

/** Runs a module whose text is given until it prints a line, and kills it. @returns the line */
async function killed(text: string): Promise<string> {
  const child = spawn(process.execPath, ['--input-type=module', '--disable-warning=ExperimentalWarning', '-e', text], {
    cwd: join(import.meta.dirname, '../..'),
    env: { ...process.env, TMPDIR: parent },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  try {
    const [line] = (await once(createInterface(child.stdout), 'line')) as [string];
    return line;
  } finally {
    const exit = once(child, 'exit');
    child.kill('SIGKILL');
    await exit;
  }
}

test('a folder whose process was killed is removed; what lives, or may belong to others, stays', async () => {
  const dead = await killed(`
    import { createServer } from 'node:net';
    import { PlannerFolder } from './coordinator/planner/planner-folder.ts';
    const folder = new PlannerFolder();
    createServer().listen(folder.socketPath, () => console.log(folder.path));`);
  expect(readdirSync(dead)).toContain('socket');
  const alive = new PlannerFolder(parent);
  const server = createServer().listen(alive.socketPath);
  await once(server, 'listening');
  makeOld(alive.path);
  const [starting, old, link, foreign] = [made(), made(), made(), made()];
  makeOld(old);
  // A symbolic link to a folder, and the folder of another machine.
  rmSync(link, { recursive: true });
  mkdirSync(join(parent, 'target'));
  symlinkSync(join(parent, 'target'), link);
  const elsewhere = join(parent, basename(foreign).replace(/^(skein-planner-)\w{8}/, '$1ffffffff'));
  renameSync(foreign, elsewhere);
  makeOld(elsewhere);
  try {
    expect(await removeAbandonedFolders(parent)).toBe(2);
    const there = [dead, old, alive.path, starting, link, elsewhere, join(parent, 'target')].map((path) =>
      existsSync(path),
    );
    expect(there).toEqual([false, false, true, true, true, true, true]);
    expect(await removeAbandonedFolders(parent)).toBe(0);
  } finally {
    server.close();
  }
});

test('a folder of another account stays', async () => {
  const path = made();
  makeOld(path);
  const { getuid } = process;
  process.getuid = () => must(getuid, 'a system with accounts').call(process) + 1;
  try {
    expect(await removeAbandonedFolders(parent)).toBe(0);
  } finally {
    Object.assign(process, { getuid });
  }
  expect(existsSync(path)).toBe(true);
});

test('after kill -9 of a coordinator the process that starts its planners removes the folder', async () => {
  const host = `
    import { PlannerHost } from './coordinator/planner/planner-host.ts';
    import { silentLogger } from './shared/log/logger.ts';
    const host = new PlannerHost(2 ** 29, silentLogger);
    host.start({ ready: () => console.log('ready'), ended: () => undefined, looked: () => undefined });`;
  await killed(host);
  await expect
    .poll(() => readdirSync(parent).filter((name) => name.startsWith('skein-planner-')), { timeout: patience(10_000) })
    .toEqual([]);
});

test('the next start removes what was left when all were killed', async () => {
  const path = made();
  makeOld(path);
  const { TMPDIR } = process.env;
  process.env['TMPDIR'] = parent;
  const host = new PlannerHost(2 ** 29, silentLogger);
  Object.assign(process.env, { TMPDIR });
  if (TMPDIR === undefined) delete process.env['TMPDIR'];
  await expect.poll(() => existsSync(path)).toBe(false);
  expect(readdirSync(parent)).toHaveLength(1);
  await host.close();
  expect(readdirSync(parent)).toEqual([]);
});
