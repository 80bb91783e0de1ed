import { readFileSync, readlinkSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { commandOf } from './postgres-account.ts';
import { processIdentity } from '../process-identity.ts';

/** `postmaster.pid` of a data folder: line 1 the pid, line 8 the status. */
export type PostmasterFile = { readonly pid: number; readonly status: string };

export const postmasterPath = (folder: string): string => join(folder, 'postmaster.pid');

export function readPostmaster(folder: string): PostmasterFile | undefined {
  try {
    const lines = readFileSync(postmasterPath(folder), 'utf8').split('\n');
    const pid = Number(lines[0]);
    return Number.isSafeInteger(pid) && pid > 0 ? { pid, status: (lines[7] ?? '').trim() } : undefined;
  } catch {
    return undefined;
  }
}

/** Whether `pid` is a postmaster of this folder, and not another process that reuses the pid. */
export function isPostmasterOf(pid: number, folder: string): boolean {
  if (processIdentity(pid) === undefined) return false;
  if (process.platform === 'linux') {
    try {
      return readlinkSync(`/proc/${pid}/cwd`) === realpathSync(folder);
    } catch {
      // Not ours to look into: its command line has to do.
    }
  }
  const command = commandOf(pid);
  return command.includes('postgres') && command.includes(folder);
}
