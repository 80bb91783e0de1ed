import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { extname, join } from 'node:path';

const FOLDER = join(import.meta.dirname, '../../../console');
/** Where the console lies: its sources in a checkout, its build in a checkout and in the package alike. */
export const consoleFolder = (): string => FOLDER;
/** Makes the build. */
export const BUILD_COMMAND = 'npm run console:build';
/** The file of the build that says of which sources it is. */
export const STAMP = 'dist/stamp.txt';

/** Everything that the build is made of, below the console's folder, but for the packages, which the lock file fixes. */
const SOURCES = [
  'src',
  'public',
  'index.html',
  'vite.config.ts',
  'build.ts',
  '../shared/sql',
  '../shared/error.ts',
  '../shared/cut-text.ts',
];

/** Whether there is a build of the console, and whether it is of the sources beside it. A package has no sources: its build is current. */
export async function consoleBuildState(folder = FOLDER): Promise<'missing' | 'old' | 'current'> {
  if (!existsSync(join(folder, 'dist/index.html'))) return 'missing';
  if (!existsSync(join(folder, 'src'))) return 'current';
  const stamp = await readFile(join(folder, STAMP), 'utf8').catch(() => '');
  return stamp === (await hashSources(folder)) ? 'current' : 'old';
}

/** A hash of the console's sources. */
export async function hashSources(folder = FOLDER): Promise<string> {
  const hash = createHash('sha256');
  for (const source of SOURCES) {
    const path = join(folder, source);
    const isFile = extname(source) !== '';
    const names = isFile
      ? ['']
      : (await readdir(path, { recursive: true, withFileTypes: true }))
          .filter((entry) => entry.isFile())
          .map((entry) => join(entry.parentPath, entry.name).slice(path.length));
    for (const name of names.toSorted()) hash.update(`${source}${name}\0`).update(await readFile(`${path}${name}`));
  }
  return hash.digest('hex');
}
