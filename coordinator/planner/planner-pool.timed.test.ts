import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { principalId, tenantId } from '#shared/id.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';
import { patience } from '#test/support/run/slowness.ts';
import { SCRIPTED_ASKER, scriptedTables } from '#test/support/scripted/tables.ts';
import { PlannerPool, type PlannerPoolOptions } from './planner-pool.ts';
import { queryPreparer } from '../prepare/prepare-query.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';

const context = { nowMicros: '0', timeZone: 'UTC', currentUser: 'u', currentCatalog: 'lake', currentSchema: 's' };
const tables = scriptedTables({ 'lake.s.t': { columns: 'a int, b string' } });
/** Constant folding that takes time, not memory. */
const SLOW = "SELECT levenshtein(repeat('a', 300000), repeat('b', 300000))";
/** DuckDB takes exponential time to bind or to optimise these. */
const EXPONENTIAL: readonly (readonly [string, string])[] = [
  ['subqueries', `SELECT ${'(SELECT '.repeat(50)}1${')'.repeat(50)}`],
  ['EXISTS', `SELECT 1 FROM t WHERE ${'EXISTS (SELECT 1 WHERE '.repeat(50)}true${')'.repeat(50)}`],
  ['BETWEEN', `SELECT ${'('.repeat(15)}a${' BETWEEN 1 AND 2)::INT'.repeat(15)} FROM t`],
  ['aliases', `SELECT a AS a0${Array.from({ length: 30 }, (_, i) => `, a${i} + a${i} AS a${i + 1}`).join('')} FROM t`],
];
const prepare = queryPreparer({ cacheEntries: 0, cacheBytes: 2 ** 26 });
const OPTIONS: PlannerPoolOptions = {
  processes: 2,
  timeoutMs: 3_000,
  contendedMs: 1_000,
  startMs: 60_000,
  memoryLimitBytes: 2 ** 29,
  requestsPerProcess: 1_000,
  idleBytesMax: 2 ** 28,
};
const LARGE_BYTES = 2 ** 31;
const MEASURED = 5;
let pool: PlannerPool;
beforeAll(() => {
  pool = new PlannerPool(OPTIONS, silentLogger);
});
afterAll(() => pool.close());

const prepared = (
  sql: string,
  signal: AbortSignal = AbortSignal.timeout(30_000),
  planner: PlannerPool = pool,
): Promise<PreparedQuery> => prepare({ sql, offset: 0, context, asker: SCRIPTED_ASKER, tables, planner, signal });
const codeOf = (work: Promise<unknown>): Promise<string> =>
  work.then(
    () => 'accepted',
    (error: unknown) => SkeinError.of(error).code,
  );

describe('a statement that breaks a planner costs one process', () => {
  test.each([
    ['repeat', "SELECT repeat('x', 2000000000)", 'STATEMENT_TOO_COMPLEX'],
    ['deep', `SELECT ${'('.repeat(900)}1${')'.repeat(900)}`, 'accepted'],
    ['chain', `SELECT ${'1 + '.repeat(10_000)}1`, 'STATEMENT_TOO_COMPLEX'],
    ['joins', `SELECT 1 FROM t${' JOIN t USING (a)'.repeat(5_000)}`, 'STATEMENT_TOO_COMPLEX'],
  ])('%s', async (_name, sql, expected) => {
    expect(await codeOf(prepared(sql))).toBe(expected);
    const started = performance.now();
    expect((await prepared('SELECT a FROM t')).columns).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(2_000);
  });

  test.each([
    ['with room and time enough', 60_000, 2 ** 31, 'accepted'],
    ['with less time', 100, 2 ** 31, 'STATEMENT_TOO_COMPLEX'],
    ['with less memory', 60_000, 2 ** 28, 'STATEMENT_TOO_COMPLEX'],
  ])('a long union, %s', async (_name, timeoutMs, memoryLimitBytes, expected) => {
    const own = new PlannerPool({ ...OPTIONS, processes: 1, timeoutMs, memoryLimitBytes }, silentLogger);
    const long = `SELECT 1${' UNION ALL SELECT 1'.repeat(20_000)}`;
    expect(await codeOf(prepared(long, AbortSignal.timeout(90_000), own))).toBe(expected);
    await own.close();
  });
});

test('cancelling answers at once, and soon kills a process that goes on', async () => {
  const abort = new AbortController();
  const work = codeOf(prepared(SLOW, abort.signal));
  await new Promise((resolve) => setTimeout(resolve, 200));
  const before = pool.pids;
  const started = performance.now();
  abort.abort(new SkeinError('QUERY_CANCELLED', 'enough'));
  expect(await work).toBe('QUERY_CANCELLED');
  expect(performance.now() - started).toBeLessThan(200);
  await expect.poll(() => before.every((pid) => pool.pids.includes(pid)), { timeout: 2_000 }).toBe(false);
});

test('clients that give up cost no process when their statements are short', async () => {
  // A process that starts takes none.
  expect(await codeOf(prepared('SELECT a FROM t'))).toBe('accepted');
  await expect.poll(() => pool.pids.filter((pid) => pid !== undefined).length).toBe(2);
  const before = pool.pids;
  // A request takes a few milliseconds, and most are given up meanwhile.
  const sums = Array.from({ length: 300 }, (_, i) => `a + ${i}`).join();
  const codes: string[] = [];
  for (let i = 0; i < 20; i += 1) {
    const abort = new AbortController();
    const work = codeOf(prepared(`SELECT ${sums}, ${i} FROM t`, abort.signal));
    setTimeout(() => abort.abort(new SkeinError('QUERY_CANCELLED', 'enough')), 2 * i);
    codes.push(await work);
  }
  expect(codes.filter((code) => code === 'QUERY_CANCELLED').length).toBeGreaterThan(5);
  expect(await codeOf(prepared('SELECT a FROM t'))).toBe('accepted');
  expect(pool.pids).toEqual(before);
});

test('many at once, each with its own answer', async () => {
  const queries = await Promise.all(Array.from({ length: 100 }, (_, i) => prepared(`SELECT ${i} AS c${i} FROM t`)));
  expect(queries.map((query) => query.columns[0]?.name)).toEqual(queries.map((_, i) => `c${i}`));
});

test.each([['a constant', SLOW] as const, ...EXPONENTIAL])(
  'a tenant whose statements take as long as they may leaves a process for another, who waits for none of them: %s',
  async (_what, slow) => {
    const abort = new AbortController();
    const ended: string[] = [];
    const attackers = Array.from({ length: 6 }, () =>
      codeOf(prepared(slow, abort.signal)).then((code) => void ended.push(code)),
    );
    await new Promise((resolve) => setTimeout(resolve, 200));
    const asker = { tenant: tenantId('other'), principal: principalId('q') };
    const signal = AbortSignal.timeout(30_000);
    const request = { sql: 'SELECT a FROM t', offset: 0, context, asker, tables, planner: pool, signal };
    for (let i = 0; i < 3; i++) expect((await prepare(request)).columns).toHaveLength(1);
    expect(ended).toEqual([]);
    abort.abort(new SkeinError('QUERY_CANCELLED', 'enough'));
    await Promise.all(attackers);
  },
);

describe('while somebody else waits, a statement has less time', () => {
  const CONTENDED_MS = 300;
  type User = typeof SCRIPTED_ASKER;
  const asker = (tenant: string, principal: string): User => ({
    tenant: tenantId(tenant),
    principal: principalId(principal),
  });
  const openPool = (processes: number, timeoutMs: number): PlannerPool =>
    new PlannerPool({ ...OPTIONS, processes, timeoutMs, contendedMs: CONTENDED_MS }, silentLogger);
  type Work = { readonly planner: PlannerPool; readonly signal: AbortSignal };
  const plan = (sql: string, who: User, { planner, signal }: Work): Promise<PreparedQuery> =>
    prepare({ sql, offset: 0, context, asker: who, tables, planner, signal });

  /** Sends one slow statement after the other, and writes down how each ended. */
  async function attack(who: User, ended: SkeinError[], work: Work): Promise<void> {
    while (!work.signal.aborted) {
      await plan(SLOW, who, work).catch((error: unknown) => ended.push(SkeinError.of(error)));
    }
  }

  test.each([
    ['of one tenant', 2, ['t', 't', 't', 't'], 't'],
    ['of tenants that have all planners', 2, ['a', 'b', 'a', 'b'], 'other'],
  ])(
    'many users %s: an honest one waits for one turn at most of each planner',
    async (_who, processes, tenants, honest) => {
      const stop = new AbortController();
      const own = openPool(processes, 60_000);
      const work = { planner: own, signal: stop.signal };
      const ended: SkeinError[] = [];
      const attacks = tenants.map((tenant, i) => attack(asker(tenant, `p${i}`), ended, work));
      // Each of them has had its first turn.
      await expect.poll(() => ended.length, { timeout: 60_000 }).toBeGreaterThanOrEqual(tenants.length);
      for (let i = 0; i < 3; i++) {
        const before = ended.length;
        const one = await plan(`SELECT a, ${i} FROM t`, asker(honest, 'honest'), {
          ...work,
          signal: AbortSignal.timeout(60_000),
        });
        expect(one.columns).toHaveLength(2);
        // A statement is two requests: one to parse it, one to plan it.
        expect(ended.length - before).toBeLessThanOrEqual(2 * processes);
      }
      expect(new Set(ended.map(({ code }) => code))).toEqual(new Set(['STATEMENT_TOO_COMPLEX']));
      expect(ended[0]?.message).toBe(
        `the statement took more than ${CONTENDED_MS} ms to plan while others waited for a planner`,
      );
      stop.abort(new SkeinError('QUERY_CANCELLED', 'enough'));
      await Promise.all(attacks);
      await own.close();
    },
  );

  test('waiting requests of the same user do not shorten its time', async () => {
    const own = openPool(1, 1_500);
    const work = { planner: own, signal: AbortSignal.timeout(60_000) };
    const slow = [0, 1].map(() => plan(SLOW, asker('t', 'p'), work).catch((error: unknown) => SkeinError.of(error)));
    expect(
      (await Promise.all(slow)).map((error) => (error instanceof SkeinError ? error.message : 'accepted')),
    ).toEqual(['the statement takes too long to plan', 'the statement takes too long to plan']);
    await own.close();
  });
});

test('planners end with the process that starts them, and others take their place', async () => {
  const own = new PlannerPool({ ...OPTIONS, processes: 2 }, silentLogger);
  await prepared('SELECT 1', AbortSignal.timeout(30_000), own);
  await expect.poll(() => own.pids.every((pid) => pid !== undefined), { timeout: 30_000 }).toBe(true);
  const before = own.pids.map((pid) => must(pid, 'a process'));
  const stat = await readFile(`/proc/${before[0]}/stat`, 'utf8');
  process.kill(Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]), 'SIGKILL');
  await expect.poll(() => before.filter((pid) => existsSync(`/proc/${pid}`)), { timeout: 30_000 }).toEqual([]);
  expect(await codeOf(prepared('SELECT 1', AbortSignal.timeout(30_000), own))).toBe('accepted');
  const [pid] = own.pids;
  await own.close();
  expect(existsSync(`/proc/${pid}`)).toBe(false);
});

test('to replace a planner takes the main thread no longer when the process is large, as a fork would', async () => {
  const own = new PlannerPool({ ...OPTIONS, processes: 1 }, silentLogger);
  expect(await codeOf(prepared('SELECT 1', AbortSignal.timeout(30_000), own))).toBe('accepted');
  const replace = async (): Promise<void> => {
    const abort = new AbortController();
    const work = codeOf(prepared(SLOW, abort.signal, own));
    setTimeout(() => abort.abort(new SkeinError('QUERY_CANCELLED', 'enough')), 100);
    expect(await work).toBe('QUERY_CANCELLED');
    expect(await codeOf(prepared('SELECT 2', AbortSignal.timeout(30_000), own))).toBe('accepted');
  };
  const fork = async (): Promise<void> => void (await once(spawn('true'), 'exit'));
  await replace();
  const small = { replace: await cpuMs(replace), fork: await cpuMs(fork) };
  // Every page of it is in memory: a process that forks copies the table of its pages.
  const large = Buffer.alloc(LARGE_BYTES, 1);
  const grown = { replace: await cpuMs(replace), fork: await cpuMs(fork) };
  expect(large.length).toBe(LARGE_BYTES);
  expect(grown.replace - small.replace).toBeLessThan((grown.fork - small.fork) / 2);
  await own.close();
});

/** CPU time of the main thread for one of some runs. */
async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = process.threadCpuUsage();
  for (let i = 0; i < MEASURED; i++) await work();
  const { user, system } = process.threadCpuUsage(before);
  return (user + system) / 1_000 / MEASURED;
}

test('a process is started when all others have work, up to as many as may be', async () => {
  const own = new PlannerPool({ ...OPTIONS, processes: 3 }, silentLogger);
  const started = (): number => own.pids.filter((pid) => pid !== undefined).length;
  await expect.poll(started, { timeout: 30_000 }).toBe(1);
  const abort = new AbortController();
  const slow = Array.from({ length: 4 }, () => codeOf(prepared(SLOW, abort.signal, own)));
  await expect.poll(started, { timeout: 30_000 }).toBe(3);
  expect(own.pids).toHaveLength(3);
  abort.abort(new SkeinError('QUERY_CANCELLED', 'enough'));
  expect(await Promise.all(slow)).toEqual(slow.map(() => 'QUERY_CANCELLED'));
  await own.close();
});

test('an abort while waiting leaves the queue', async () => {
  const abort = new AbortController();
  const slow = Array.from({ length: 2 }, () => codeOf(prepared(SLOW, abort.signal)));
  await new Promise((resolve) => setTimeout(resolve, 500));
  const leave = new AbortController();
  setTimeout(() => leave.abort(new SkeinError('QUERY_TIMEOUT', 'too late')), 100);
  expect(await codeOf(prepared('SELECT 1', leave.signal))).toBe('QUERY_TIMEOUT');
  abort.abort(new SkeinError('QUERY_CANCELLED', 'enough'));
  expect(await Promise.all(slow)).toEqual(['QUERY_CANCELLED', 'QUERY_CANCELLED']);
  expect(await codeOf(prepared('SELECT 1'))).toBe('accepted');
});

test('processes are replaced after their share of requests, without a pause', async () => {
  const own = new PlannerPool({ ...OPTIONS, processes: 1, timeoutMs: 10_000, requestsPerProcess: 20 }, silentLogger);
  const request = { sql: 'SELECT 1', defaults: { catalog: '', schema: '' }, context };
  const pids = new Set<number | undefined>();
  const until = performance.now() + 15_000;
  while (pids.size < 3 && performance.now() < until) {
    await Promise.all(
      Array.from({ length: 10 }, () => own.parse(request, SCRIPTED_ASKER, AbortSignal.timeout(10_000))),
    );
    for (const pid of own.pids) pids.add(pid);
  }
  expect(pids.size).toBeGreaterThanOrEqual(3);
  // While a new one comes and an old one goes there are more.
  await expect.poll(() => own.pids).toHaveLength(1);
  await own.close();
});

test('a process that keeps much of what a statement took is replaced when it has answered', async () => {
  const own = new PlannerPool(
    { ...OPTIONS, processes: 1, timeoutMs: 60_000, memoryLimitBytes: 2 ** 31, idleBytesMax: 2 ** 27 },
    silentLogger,
  );
  const long = `SELECT 1${' UNION ALL SELECT 1'.repeat(20_000)}`;
  await prepared('SELECT 1', AbortSignal.timeout(30_000), own);
  const [before] = own.pids;
  expect(await codeOf(prepared(long, AbortSignal.timeout(90_000), own))).toBe('accepted');
  await expect.poll(() => own.pids, { timeout: 20_000 }).not.toContain(before);
  expect(await codeOf(prepared('SELECT 1', AbortSignal.timeout(30_000), own))).toBe('accepted');
  await own.close();
});

test('a process that never becomes ready is replaced, and statements wait for it no longer than for its start', async () => {
  const own = new PlannerPool({ ...OPTIONS, processes: 1, startMs: patience(5_000) }, silentLogger);
  await expect.poll(() => own.pids[0], { timeout: patience(10_000), interval: 1 }).toBeDefined();
  const [stuck] = own.pids;
  process.kill(must(stuck, 'a process'), 'SIGSTOP');
  expect(await codeOf(prepared('SELECT 1', AbortSignal.timeout(patience(30_000)), own))).toBe('accepted');
  expect(own.pids).not.toContain(stuck);
  await own.close();
});

test('after close nothing is planned', async () => {
  const own = new PlannerPool({ ...OPTIONS, processes: 1 }, silentLogger);
  await own.close();
  await expect(
    own.parse(
      { sql: 'SELECT 1', defaults: { catalog: '', schema: '' }, context },
      SCRIPTED_ASKER,
      AbortSignal.timeout(1_000),
    ),
  ).rejects.toThrow('stopping');
});
