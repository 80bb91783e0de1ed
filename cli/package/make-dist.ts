import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { stripTypeScriptTypes } from 'node:module';
import { dirname, join, posix } from 'node:path';
import { MESSAGES } from '#shared/release.ts';
import { makeFolders } from '#shared/storage/make-folders.ts';
import { toJavaScript } from './to-java-script.ts';

const ROOT = join(import.meta.dirname, '../..');
const DIST = join(ROOT, 'dist');
/** The folders that a running Skein needs. */
const FOLDERS = ['shared', 'proto', 'catalog', 'coordinator', 'worker', 'cli'];
/** Files that only tests and the making of the package read. */
const LEFT_OUT = /\.test\.ts$|\/golden\/|^cli\/package\/|\.md$|^proto\/make-types\.ts$/;

/**
 * Makes `dist/`, which the packed package runs: Node strips no types of files below `node_modules`, so each `.ts` file becomes a `.js` file at
 * the same place, with relative imports. A release is told by the text of some sources (`MESSAGES`),
 * which lie beside them.
 */
async function makeDist(): Promise<void> {
  await rm(DIST, { recursive: true, force: true });
  for (const folder of FOLDERS) {
    for (const entry of await readdir(join(ROOT, folder), { recursive: true, withFileTypes: true })) {
      const path = posix.join(entry.parentPath.slice(ROOT.length + 1), entry.name);
      if (entry.isFile() && !LEFT_OUT.test(path)) await put(path);
    }
  }
  // The page of the console, built by `npm pack`'s `prepare`.
  await cp(join(ROOT, 'console/dist'), join(DIST, 'console/dist'), { recursive: true });
  const { name, version, type, license, dependencies } = JSON.parse(
    await readFile(join(ROOT, 'package.json'), 'utf8'),
  ) as Readonly<Record<string, unknown>>;
  await writeFile(join(DIST, 'package.json'), JSON.stringify({ name, version, type, license, dependencies }, null, 2));
}

async function put(path: string): Promise<void> {
  const target = join(DIST, path);
  await makeFolders(dirname(target));
  const isSource = path.endsWith('.ts');
  if (!isSource || MESSAGES.includes(path)) await cp(join(ROOT, path), target);
  if (!isSource) return;
  const source = await readFile(join(ROOT, path), 'utf8');
  await writeFile(target.replace(/\.ts$/, '.js'), toJavaScript(path, stripTypeScriptTypes(source)));
}

await makeDist();
