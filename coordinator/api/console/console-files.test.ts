import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ConsoleFiles } from './console-files.ts';

test('a page that is built under a running coordinator is served with its files', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'skein-console-files-'));
  try {
    const files = new ConsoleFiles(folder);
    const dist = join(folder, 'dist');
    const textOf = async (path: string): Promise<string | undefined> =>
      (await files.find(path, 'gzip'))?.bytes.toString();
    expect(await textOf('ask')).toBeUndefined();
    for (const build of ['one', 'two']) {
      await rm(dist, { recursive: true, force: true });
      await mkdir(join(dist, 'assets'), { recursive: true });
      await writeFile(join(dist, `assets/${build}.js`), build);
      await writeFile(join(dist, 'index.html'), `assets/${build}.js`);
      expect(await textOf(String(await textOf('ask')))).toBe(build);
    }
    expect(await textOf('assets/one.js')).toBeUndefined();
    expect(await textOf('../package.json')).toBe('assets/two.js');
  } finally {
    await rm(folder, { recursive: true });
  }
});
