import { chmodSync, mkdirSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** For the account of the cluster alone. */
export const PRIVATE_MODE = 0o700;
/** Permissions of others to read or write; that they may pass through a folder (711) is the operator's to say. */
const OTHERS_READ_OR_WRITE = 0o066;

/** Every folder that the services make in a data directory. What has another one in it is not Skein's alone. */
const DATA_DIR_FOLDERS: ReadonlySet<string> = new Set([
  'catalogs',
  'logs',
  'postgres',
  'postgres.new',
  'secrets',
  'spill',
  'tmp',
  'warehouse',
  // Of the file system, where the data directory is one.
  'lost+found',
]);

/** Makes a folder, and the parents that it lacks, for this account alone; one that is there stays as it is. */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: PRIVATE_MODE });
}

/**
 * Makes the data directory, or closes the one that an earlier release made to other accounts, and its folders. A directory that is another
 * account's, or that has folders of somebody else in it, stays as it is; so does what a link leads to.
 */
export function makeDataDir(dataDir: string): void {
  makePrivateFolder(dataDir);
  const folders = readdirSync(dataDir, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  if (folders.every(({ name }) => DATA_DIR_FOLDERS.has(name))) close(dataDir);
  for (const { name } of folders) if (DATA_DIR_FOLDERS.has(name)) close(join(dataDir, name));
}

function close(path: string): void {
  const { uid, mode } = statSync(path);
  if (uid === process.getuid?.() && (mode & OTHERS_READ_OR_WRITE) !== 0) chmodSync(path, PRIVATE_MODE);
}
