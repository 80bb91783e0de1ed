import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { stuckQuery } from '#test/support/stuck-query.ts';

/** One tenant hangs all workers at once: they end one after the other, and another tenant is served meanwhile. */
const STATEMENTS = 16;
const TIMEOUT_MS = 3_000;
const WAIT_MS_MAX = 10_000;
const PAUSE_MS = 50;
/** Both workers have ended and are back by then. */
const END_MS_MAX = 60_000;
const RIVAL = 'rival';
const WARM_UP = 'SELECT max(hash(n)) FROM range(2000000) AS r(n)';

let cluster: StartedCluster;
let attacker: string;

beforeAll(async () => {
  cluster = await startOwnCluster({ workers: 2, args: ['--worker-cores', '1'] });
  await cluster.cliOk(['admin', 'tenant', 'create', RIVAL, '--user', 'mallory']);
  attacker = await cluster.token({ tenant: RIVAL, user: 'mallory' });
  // The workers have served before: their threads are there, those of the express slots too.
  await Promise.all(Array.from({ length: STATEMENTS }, () => cluster.sql(WARM_UP)));
}, 300_000);

afterAll(() => cluster?.stop());

type LogLine = { readonly msg: string; readonly worker?: string };

/** The log of the coordinator: what it says of its workers. */
async function workerEvents(): Promise<readonly LogLine[]> {
  const text = await readFile(join(cluster.dataDir, 'logs', 'coordinator.log'), 'utf8');
  const lines = text.split('\n').filter((line) => line.startsWith('{'));
  return lines.map((line) => JSON.parse(line) as LogLine).filter(({ worker }) => worker !== undefined);
}

/** For each worker that ended itself, the others that were attached at that moment. */
function servingAtEnds(events: readonly LogLine[]): readonly number[] {
  const attached = new Set<string>();
  const others: number[] = [];
  for (const { msg, worker = '' } of events) {
    if (msg === 'worker attached') attached.add(worker);
    else if (msg === 'worker lost') attached.delete(worker);
    else if (msg === 'a worker ends itself') others.push([...attached].filter((other) => other !== worker).length);
  }
  return others;
}

test('workers that hang together end one after the other, and another tenant waits ten seconds at most', async () => {
  const startMs = performance.now();
  const done = new AbortController();
  const attack = Array.from({ length: STATEMENTS }, () =>
    cluster.query(stuckQuery(), { token: attacker, timeoutMs: TIMEOUT_MS }),
  );
  const ended = Promise.all(attack).then(async (answers) => {
    while (servingAtEnds(await workerEvents()).length < 2 && performance.now() - startMs < END_MS_MAX) await sleep(200);
    // The last of them is back, and every query was placed again.
    await sleep(3_000);
    done.abort();
    return answers;
  });
  const failures: unknown[] = [];
  let slowestMs = 0;
  while (!done.signal.aborted) {
    const askedMs = performance.now();
    const { status, body } = await cluster.query('SELECT 1');
    slowestMs = Math.max(slowestMs, performance.now() - askedMs);
    if (status !== 200) failures.push(body);
    await sleep(PAUSE_MS);
  }
  const answers = await ended;
  process.stdout.write(`the other tenant waited ${Math.round(slowestMs)} ms at most\n`);
  expect(new Set(answers.map(({ body }) => body.error))).not.toContain(undefined);
  expect(failures).toEqual([]);
  expect(servingAtEnds(await workerEvents())).toEqual([1, 1]);
  expect(slowestMs).toBeLessThan(WAIT_MS_MAX);
}, 180_000);
