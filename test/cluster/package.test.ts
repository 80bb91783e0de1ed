import { mkdir, mkdtemp, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { ReadyLine } from '#cli/cluster-file.ts';
import { projectRoot, run } from '../support/cluster.ts';
import { patience } from '../support/run/slowness.ts';

/** The package as `npm pack` makes it, installed in a folder of its own with the project's dependencies. */
let folder: string;
const skein = (...args: readonly string[]) =>
  run('node', [join(folder, 'node_modules/skein-sql/cli/skein.js'), ...args], {
    cwd: folder,
    timeoutMs: patience(180_000),
  });

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-package-'));
  const packed = await run('npm', ['pack', '--pack-destination', folder], { timeoutMs: patience(120_000) });
  expect(packed.code, packed.stderr).toBe(0);
  const target = join(folder, 'node_modules/skein-sql');
  await mkdir(target, { recursive: true });
  const tarball = (await readdir(folder)).find((name) => name.endsWith('.tgz')) ?? 'no tarball';
  const unpacked = await run('tar', ['-xzf', join(folder, tarball), '-C', target, '--strip-components', '1']);
  expect(unpacked.code, unpacked.stderr).toBe(0);
  for (const name of await readdir(join(projectRoot, 'node_modules'))) {
    if (!name.startsWith('.'))
      await symlink(join(projectRoot, 'node_modules', name), join(folder, 'node_modules', name));
  }
}, patience(240_000));

afterAll(async () => {
  await skein('down', '--data-dir', 'data');
  await rm(folder, { recursive: true, force: true, maxRetries: 3 });
});

test('the package has no tests and no sources but those by which a release is told', async () => {
  const files = await readdir(join(folder, 'node_modules/skein-sql'), { recursive: true });
  expect(files.filter((file) => file.endsWith('.test.js') || file.includes('golden'))).toEqual([]);
  expect(files.filter((file) => file.endsWith('.ts')).toSorted()).toEqual([
    'dist/shared/iceberg/predicate-codec.ts',
    'dist/shared/storage/credential.ts',
    'dist/shared/task/task-codec.ts',
    'dist/shared/task/task.ts',
    'dist/shared/ticket.ts',
  ]);
});

test(
  'a cluster starts from the package, loads and answers',
  async () => {
    const up = skein('up', '--data-dir', 'data', '--port-base', '0');
    await expect.poll(() => readReady(), { timeout: patience(60_000) }).not.toBeNull();
    expect(await skein('load', 'tpch', '--scale', '0.01', '--data-dir', 'data')).toMatchObject({ code: 0 });
    const answer = await skein('sql', '--data-dir', 'data', '-e', 'SELECT count(*) AS n FROM lake.tpch.lineitem');
    expect(answer).toEqual({ code: 0, stdout: 'n\n60175\n', stderr: '' });
    expect(await skein('down', '--data-dir', 'data')).toMatchObject({ code: 0 });
    expect((await up).code).toBe(0);
  },
  patience(240_000),
);

const readReady = async (): Promise<ReadyLine | null> => {
  const text = await readFile(join(folder, 'data/ready.json'), 'utf8').catch(() => null);
  return text === null ? null : (JSON.parse(text) as ReadyLine);
};
