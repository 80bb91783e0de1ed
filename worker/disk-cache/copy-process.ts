import { readdirSync } from 'node:fs';
import { setPriority } from 'node:os';
import { copyFile, type CopyRequest } from './copy-file.ts';

/**
 * The program of the process that copies files, one at a time. It is a process because a file may be hostile: what breaks or hangs DuckDB
 * ends only this one. It ends with its worker.
 */

/** Priority of its threads: below all that answer or run queries. */
const NICENESS = 15;

process.on('disconnect', () => process.exit());
process.on('message', (request: CopyRequest) => void answer(request));

// On Linux a priority applies to one thread, and to those that it starts.
const threads = process.platform === 'linux' ? readdirSync('/proc/self/task').map(Number) : [0];
for (const thread of threads) setPriority(thread, NICENESS);

async function answer(request: CopyRequest): Promise<void> {
  process.send?.(await copyFile(request));
}
