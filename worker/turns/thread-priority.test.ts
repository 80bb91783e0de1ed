import { once } from 'node:events';
import { readFileSync, readdirSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { expect, test } from 'vitest';
import { lowerPriority, restorePriorities } from './thread-priority.ts';

const threads = (): readonly string[] => readdirSync('/proc/self/task');

/** The nice value of a thread of this process (proc_pid_stat(5)). */
const niceOf = (thread: string): number =>
  Number(readFileSync(`/proc/self/task/${thread}/stat`, 'latin1').split(') ').at(-1)?.split(' ')[16]);

test.runIf(process.platform === 'linux')('threads get their priority back where the system allows it', async () => {
  const before = new Set(threads());
  const worker = new Worker('setInterval(() => {}, 1000)', { eval: true });
  await once(worker, 'online');
  const added = threads().filter((thread) => !before.has(thread));
  for (const thread of added) expect(lowerPriority(Number(thread))).toBe(true);
  expect(new Set(added.map(niceOf))).toEqual(new Set([15]));
  restorePriorities();
  expect(new Set(added.map(niceOf))).toEqual(new Set([process.getuid?.() === 0 ? 0 : 15]));
  await worker.terminate();
});
