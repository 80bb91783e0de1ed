import { readFileSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';

/** A process as `/proc` tells of it: state and parent are the first fields behind its name, which may have any signs. */
type ProcessStat = { readonly state: string; readonly parent: number };

function parseStat(text: string): ProcessStat {
  const [state = '', parent = ''] = text.slice(text.lastIndexOf(') ') + 2).split(' ');
  return { state, parent: Number(parent) };
}

/** The processes that a process has started and that have not ended, without theirs; none where there is no `/proc`. */
export async function childrenOf(pid: number): Promise<readonly number[]> {
  const entries = await readdir('/proc').catch(() => []);
  const found: number[] = [];
  for (const entry of entries.filter((name) => /^\d+$/.test(name))) {
    // One that has ended meanwhile has no file.
    const text = await readFile(`/proc/${entry}/stat`, 'utf8').catch(() => '');
    if (text !== '' && parseStat(text).parent === pid) found.push(Number(entry));
  }
  return found;
}

/** Whether a process has memory yet: one that has ended and that nobody has waited for has none. */
export function isRunning(pid: number): boolean {
  try {
    return !/[ZX]/.test(parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8')).state);
  } catch {
    return false;
  }
}
