import { chmodSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { makeFoldersSync } from './make-folders.ts';

/** Mode of folders that only the cluster's own account may access. */
export const PRIVATE_MODE = 0o700;
/** Permission bits by which others read or write. The operator may let others pass through a folder, and no more (711). */
const OTHERS_READ_OR_WRITE = 0o066;

/** All folders that the services make in a data directory; a directory with other folders is not Skein's alone. */
const DATA_DIR_FOLDERS: ReadonlySet<string> = new Set([
  'catalogs',
  'disk-cache',
  'history',
  'logs',
  'postgres',
  'postgres.new',
  'secrets',
  'spill',
  'tmp',
  'warehouse',
  // Made by the file system when the data directory is a volume of its own.
  'lost+found',
]);

/** Makes a folder and its missing parents for this account alone; an existing folder stays as it is. */
export function makePrivateFolder(path: string): void {
  makeFoldersSync(path, { mode: PRIVATE_MODE });
}

/**
 * Makes the data directory. A directory that an earlier release made is closed to other accounts, with its folders. A directory that
 * belongs to another account, or that contains other folders, stays as it is; so does a folder behind a symbolic link.
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
