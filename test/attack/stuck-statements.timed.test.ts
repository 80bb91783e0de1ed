import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { QueryAnswer, StartedCluster } from '#test/support/cluster.ts';
import { startOwnCluster } from '#test/support/resources.ts';
import { stuckQuery } from '#test/support/stuck-query.ts';
import { Bystander } from './bystander.ts';
import { STUBBORN_STATEMENTS } from './corpus/stubborn-statements.ts';

const ATTACKERS = 6;
const TIMEOUT_MS = 5_000;
const ANSWER_MS_MAX = TIMEOUT_MS + 1_000;
/** At worst a query waits for a new thread, and then for a new worker process. */
const WAIT_MS_MAX = 6_000;
/** The bystander's rounds, each an answer and a pause, take less than this on average. */
const BYSTANDER_MS_MAX = 500;
const RESTART_MS_MAX = 3_000;
/** How often the attackers run all statements. */
const ROUNDS = 5;

/** The attackers' tenant; the bystander, whose waits count, is another's. */
const RIVAL = 'rival';
const OF_RIVAL = ['--tenant', RIVAL, '--user', 'mallory'];

let cluster: StartedCluster;
let attacker: string;

beforeAll(async () => {
  cluster = await startOwnCluster({ workers: 2, args: ['--worker-cores', '1'] });
  await cluster.load(['tpch', '--scale', '0.01']);
  await cluster.cliOk(['admin', 'tenant', 'create', RIVAL, '--user', 'mallory']);
  attacker = await cluster.token({ tenant: RIVAL, user: 'mallory' });
}, 300_000);

afterAll(() => cluster?.stop());

type Timed = QueryAnswer & { readonly elapsedMs: number };

async function timed(sql: string): Promise<Timed> {
  const start = performance.now();
  const answer = await cluster.query(sql, { token: attacker, timeoutMs: TIMEOUT_MS });
  return { ...answer, elapsedMs: performance.now() - start };
}

const attack = (sql: string): Promise<readonly Timed[]> =>
  Promise.all(Array.from({ length: ATTACKERS }, () => timed(sql)));

test('six statements that do not stop cost their principal an answer in time, the workers a process, and nobody else anything', async () => {
  const bystander = new Bystander(cluster);
  const ended = cluster.event(
    ({ event, reason }) => event === 'exited' && typeof reason === 'string' && reason.includes('as ordered'),
    40_000,
  );
  const answers = await attack(stuckQuery());
  expect(answers.map(({ body }) => body.error)).toEqual(answers.map(() => 'QUERY_TIMEOUT'));
  for (const { elapsedMs } of answers) expect(elapsedMs).toBeLessThan(ANSWER_MS_MAX);
  const { service } = await ended;
  const endedMs = performance.now();
  await cluster.event(({ event, service: name }) => event === 'restarted' && name === service, 40_000);
  const restartedMs = performance.now() - endedMs;
  // The other worker ends soon after, if it was hung as well.
  await sleep(5_000);
  const seen = await bystander.stop();
  expect(seen.failures).toEqual([]);
  expect(seen.slowestMs).toBeLessThan(WAIT_MS_MAX);
  expect(seen.answers).toBeGreaterThan(50);
  expect(restartedMs).toBeLessThan(RESTART_MS_MAX);
  const states = (await cluster.services()).map(({ state }) => state);
  expect(new Set(states)).toEqual(new Set(['up']));
  process.stdout.write(`bystander: ${JSON.stringify(seen)}, worker ready after ${Math.round(restartedMs)} ms\n`);
}, 120_000);

test('their shape is refused for the principal, is listed with the reason, and is taken again when it was lifted', async () => {
  const refused = await timed(stuckQuery(3));
  expect([refused.status, refused.body.error]).toEqual([403, 'STATEMENT_QUARANTINED']);
  // Other principals are not refused.
  expect((await cluster.query(stuckQuery(3))).status).toBe(200);
  const { quarantine } = JSON.parse(await cluster.cliOk(['admin', 'quarantine', 'list', '--json', ...OF_RIVAL])) as {
    readonly quarantine: readonly { readonly id: string; readonly sql: string; readonly reason: string }[];
  };
  expect(quarantine.length).toBeGreaterThan(0);
  expect(must(quarantine[0], 'one')).toMatchObject({ sql: stuckQuery(), username: 'mallory' });
  expect(must(quarantine[0], 'one').reason).toContain('did not stop');
  for (const { id } of quarantine) await cluster.cliOk(['admin', 'quarantine', 'lift', id, ...OF_RIVAL]);
  expect((await timed(stuckQuery(3))).status).toBe(200);
  expect(JSON.parse(await cluster.cliOk(['admin', 'quarantine', 'list', '--json', ...OF_RIVAL]))).toEqual({
    quarantine: [],
  });
  expect((await cluster.cli(['admin', 'quarantine', 'lift', must(quarantine[0], 'one').id, ...OF_RIVAL])).code).toBe(1);
}, 60_000);

test('expressions that see no interrupt are an answer or an error in time, and hold nobody up', async () => {
  const startMs = performance.now();
  const bystander = new Bystander(cluster);
  const [like = '', ...others] = STUBBORN_STATEMENTS;
  const answers = [...(await attack(like))];
  // Most end soon, so all run several times: one wait for a new worker must not decide about the average.
  const next = Array.from({ length: ROUNDS }, () => others)
    .flat()
    .values();
  const attacker = async (): Promise<void> => {
    for (const sql of next) answers.push(await timed(sql));
  };
  await Promise.all(Array.from({ length: ATTACKERS }, attacker));
  const seen = await bystander.stop();
  process.stdout.write(`bystander: ${JSON.stringify(seen)}\n`);
  const late = answers.filter(({ elapsedMs }) => elapsedMs >= ANSWER_MS_MAX);
  expect(late.map(({ body, elapsedMs }) => [elapsedMs, body.error ?? null])).toEqual([]);
  expect(seen.failures).toEqual([]);
  expect(seen.slowestMs).toBeLessThan(WAIT_MS_MAX);
  expect(seen.answers).toBeGreaterThan((performance.now() - startMs) / BYSTANDER_MS_MAX);
}, 60_000);
