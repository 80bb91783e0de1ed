import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { processIdentity, signalProcess, waitUntil } from './process-identity.ts';

test('a process keeps its identity until it ends, and no other has it', async () => {
  const child = spawn('sleep', ['60']);
  const pid = must(child.pid, 'sleep starts');
  const identity = processIdentity(pid);
  expect(identity).toBeDefined();
  expect(processIdentity(pid)).toBe(identity);
  expect(processIdentity(process.pid)).not.toBe(identity);
  signalProcess(pid, 'SIGKILL');
  await once(child, 'exit');
  expect(processIdentity(pid)).toBeUndefined();
  // A signal to a process that is gone is not an error.
  signalProcess(pid, 'SIGTERM');
});

test('waiting ends with the condition or the time', async () => {
  let polls = 0;
  expect(await waitUntil(() => ++polls === 3, 1_000, 1)).toBe(true);
  expect(await waitUntil(() => false, 20, 5)).toBe(false);
});
