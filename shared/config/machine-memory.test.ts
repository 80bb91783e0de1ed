import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { WORKER_MEMORY_MIN } from './machine-memory.ts';

const MIB = 2 ** 20;
/** The folder in which a control group is made, and its file that limits memory: version 1, then version 2. */
const HIERARCHIES = [
  ['/sys/fs/cgroup/memory', 'memory.limit_in_bytes'],
  ['/sys/fs/cgroup', 'memory.max'],
] as const;

/** Creates a control group; returns it with the file of its limit, or undefined where this account may create none. */
function makeGroup(): { readonly path: string; readonly limit: string } | undefined {
  for (const [root, file] of HIERARCHIES) {
    const path = join(root, `skein-test-${process.pid}`);
    try {
      mkdirSync(path);
    } catch {
      continue;
    }
    if (existsSync(join(path, file))) return { path, limit: join(path, file) };
    rmdirSync(path);
  }
  return undefined;
}

const probe = makeGroup();
if (probe !== undefined) rmdirSync(probe.path);

/** Returns the default memory limit of a worker in a container with this much memory: a real control group around a real process. */
function defaultLimitIn(bytes: number): number {
  const group = must(makeGroup(), 'a control group');
  const loadConfig = join(import.meta.dirname, 'load-config.ts');
  const script = `import('${loadConfig}').then((m) => console.log(m.loadConfig().config['worker.memory_limit']))`;
  try {
    writeFileSync(group.limit, String(bytes));
    const enter = `echo $$ > '${join(group.path, 'cgroup.procs')}' && exec "$@"`;
    return Number(execFileSync('sh', ['-c', enter, 'sh', process.execPath, '-e', script], { encoding: 'utf8' }));
  } finally {
    rmdirSync(group.path);
  }
}

describe.skipIf(probe === undefined)('in a container with less memory than its host', () => {
  test('the default limit of a worker is a share of the container, and accepted', () => {
    expect(defaultLimitIn(512 * MIB)).toBe(Math.floor(512 * MIB * 0.3));
  });

  test('a small one gets the least that a worker may have', () => {
    expect(defaultLimitIn(150 * MIB)).toBe(WORKER_MEMORY_MIN);
  });
});
