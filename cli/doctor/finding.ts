import { existsSync } from 'node:fs';
import { dirname } from 'node:path';

/** The result of a check of `skein doctor`. */
export type Finding = { readonly state: 'ok' | 'warning' | 'failed'; readonly message: string };

export const ok = (message: string): Finding => ({ state: 'ok', message });
export const warning = (message: string): Finding => ({ state: 'warning', message });
export const failed = (message: string): Finding => ({ state: 'failed', message });

/** The folder, or its nearest parent that exists. */
export function nearestFolder(path: string): string {
  let folder = path;
  while (!existsSync(folder) && dirname(folder) !== folder) folder = dirname(folder);
  return folder;
}
