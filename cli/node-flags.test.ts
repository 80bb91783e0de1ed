import { expect, test } from 'vitest';
import { projectRoot, run } from '#test/support/cluster.ts';
import { serviceEnvironment, serviceFlags } from './node-flags.js';

/**
 * Program that allocates and frees a large buffer, has each of three threads allocate 50 MB in pieces and free them, trims, and prints how
 * many megabytes of its own it then holds more than before. The large buffer makes the C library keep much: it adapts to what it has seen.
 */
const PROGRAM = `
  import { once } from 'node:events';
  import { readFileSync } from 'node:fs';
  import { Worker } from 'node:worker_threads';
  import koffi from 'koffi';
  import { trimAllocator } from '#shared/thread/idle-memory.ts';
  const c = koffi.load(null);
  const [malloc, free] = [c.func('void *malloc(size_t)'), c.func('void free(void *)')];
  const held = () => Number(/RssAnon:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))[1]) / 1024;
  free(malloc(30e6));
  const THREAD = \`
    const { parentPort } = require('node:worker_threads');
    const koffi = require('koffi');
    const c = koffi.load(null);
    const [malloc, free] = [c.func('void *malloc(size_t)'), c.func('void free(void *)')];
    const fill = c.func('void *memset(void *, int, size_t)');
    parentPort.on('message', () => {
      Array.from({ length: 1000 }, () => fill(malloc(50000), 1, 50000)).forEach((one) => free(one));
      parentPort.postMessage('done');
    });
    parentPort.postMessage('ready');\`;
  const threads = Array.from({ length: 3 }, () => new Worker(THREAD, { eval: true, execArgv: [] }));
  await Promise.all(threads.map((one) => once(one, 'message')));
  const before = held();
  for (const one of threads) one.postMessage('go');
  await Promise.all(threads.map((one) => once(one, 'message')));
  trimAllocator();
  console.log(held() - before);
  process.exit();`;

test.runIf(process.platform === 'linux').each([
  ['catalog', 8],
  ['coordinator', 8],
  ['worker', 40],
] as const)(
  'the threads of a %s keep at most %d MB of what they have freed',
  async (service, megabytes) => {
    const program = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', PROGRAM];
    const { stdout, stderr } = await run(process.execPath, program, {
      cwd: projectRoot,
      env: serviceEnvironment(service),
    });
    expect(stderr).toBe('');
    expect(Number(stdout)).toBeLessThan(megabytes);
  },
  30_000,
);

/** Program that fills the young generation with garbage, collects as an idle thread does, and prints the megabytes that are left of it. */
const YOUNG_GENERATION = `
  import { getHeapSpaceStatistics } from 'node:v8';
  let kept = [];
  for (let i = 0; i < 3e6; i++) if (kept.push({ i }) > 1e5) kept = [];
  gc({ type: 'major', flavor: 'last-resort' });
  console.log(getHeapSpaceStatistics().find((space) => space.space_name === 'new_space').space_size / 2 ** 20);`;

test.each(['catalog', 'coordinator'])(
  'the young generation of a %s stays large when the idle process collects',
  async (service) => {
    const program = [...serviceFlags(service), '--expose-gc', '--input-type=module', '--eval', YOUNG_GENERATION];
    const { stdout } = await run(process.execPath, program, { cwd: projectRoot });
    expect(Number(stdout)).toBeGreaterThanOrEqual(16);
  },
);
