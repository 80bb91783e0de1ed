import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const CACHE = join(import.meta.dirname, '../../.cache');
/** Time that a suite allows for installing packages. */
export const NPM_INSTALL_MS = 900_000;

/**
 * The folder `node_modules` of packages that only tests need and that are too large for a dependency: installed once for all checkouts that
 * share `.cache`. @param packages with their versions, the first of which names the folder
 */
export async function npmFolder(name: string, packages: readonly string[]): Promise<string> {
  const place = join(CACHE, name, packages.map((one) => one.replace(/^.*@/, '')).join('-'));
  if (existsSync(join(place, 'node_modules'))) return join(place, 'node_modules');
  await mkdir(dirname(place), { recursive: true });
  // Two installations at once do no harm: each has a folder of its own.
  const folder = await mkdtemp(join(dirname(place), 'install-'));
  try {
    await writeFile(join(folder, 'package.json'), '{"private":true}');
    const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}` };
    const flags = ['install', '--no-audit', '--no-fund', '--ignore-scripts', ...packages];
    await promisify(execFile)('npm', flags, { cwd: folder, env, timeout: NPM_INSTALL_MS });
    await rename(folder, place).catch((error: unknown) => {
      if (!existsSync(join(place, 'node_modules'))) throw error;
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return join(place, 'node_modules');
}
