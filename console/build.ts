import { existsSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { consoleBuildState, hashSources, STAMP } from '#coordinator/api/console/build-state.ts';

/**
 * Builds the console into `console/dist`, with each file compressed beside it. `npm ci` runs this, and does nothing where Vite or the sources are
 * missing: in an image whose packages come first, and with `--omit=dev`. The build says of which sources it is (`stamp.txt`), so that an old one can
 * be told, and is not made again.
 */
const FOLDER = import.meta.dirname;
const DIST = join(FOLDER, 'dist');
/** Quality of Brotli: 9 is 3 % larger than 11 and ten times as fast. */
const BROTLI_QUALITY = 9;

async function build(): Promise<void> {
  if (!existsSync(join(FOLDER, 'src'))) return;
  if ((await consoleBuildState(FOLDER)) === 'current') return;
  const vite = await import('vite').catch(() => undefined);
  if (vite === undefined) return;
  const stamp = await hashSources(FOLDER);
  await vite.build({ configFile: join(FOLDER, 'vite.config.ts'), logLevel: 'warn' });
  await compress();
  await writeFile(join(FOLDER, STAMP), stamp);
}

async function compress(): Promise<void> {
  const entries = await readdir(DIST, { recursive: true, withFileTypes: true });
  const texts = entries.filter((entry) => entry.isFile() && /\.(?:js|css|svg)$/.test(entry.name));
  await Promise.all(
    texts.map(async (entry) => {
      const path = join(entry.parentPath, entry.name);
      const bytes = await readFile(path);
      const params = { [constants.BROTLI_PARAM_QUALITY]: BROTLI_QUALITY };
      await writeFile(`${path}.br`, await promisify(brotliCompress)(bytes, { params }));
      await writeFile(`${path}.gz`, await promisify(gzip)(bytes, { level: 9 }));
    }),
  );
}

await build();
