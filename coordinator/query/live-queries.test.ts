import { randomUUID } from 'node:crypto';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { systemClock } from '#shared/clock.ts';
import type { Action } from '#shared/authorization/action.ts';
import { SkeinError } from '#shared/error.ts';
import { principalId, queryId, tenantId, type PrincipalId } from '#shared/id.ts';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import type { Caller } from '../auth/authenticate.ts';
import { ActiveQuery, type Recorder } from './active-query.ts';
import { cancelQuery, liveQueries } from './live-queries.ts';
import { QueryRegistry } from './query-registry.ts';
import { NO_PROGRESS } from '../scheduler/run-progress.ts';
import type { StageReport } from '../scheduler/stage-report.ts';
import type { RunningRequest } from './query-service.ts';

const callerOf = (tenant: string, principal: string, actions: readonly Action[] = []): Caller => ({
  claims: { tenant: tenantId(tenant), sub: principalId(principal), preferred_username: principal } as TokenClaims,
  decisions: new Map(actions.map((action) => [action, { allowed: true }])),
});
const ADMIN = ['query.list', 'query.cancel'] as const;

const ignore: Recorder = () => undefined;

function statement(caller: Caller, id: string, { text = 'x'.repeat(10_000), record = ignore } = {}): ActiveQuery {
  const request = {
    caller,
    queryId: queryId(id),
    arrivedMs: 0,
    source: 'etl',
    traceParent: null,
    clientGone: new AbortController().signal,
  } as RunningRequest;
  const recordedBy = { epoch: 1, cuRate: 1 };
  const active = new ActiveQuery({
    request,
    recordedBy,
    profileBytesMax: 0,
    isTraced: false,
    clock: systemClock,
    record,
    onEnded: () => undefined,
  });
  active.received({ text: `SELECT '${text}'`, secrets: null });
  return active;
}

const ID = randomUUID();
const ann = callerOf('acme', 'ann');
const bob = callerOf('acme', 'bob');
const admin = callerOf('acme', 'root', ADMIN);
const stranger = callerOf('other', 'root', ADMIN);
const ALL = { state: null, owner: null, limit: 10 } as const;

/** A registry with the live statements of these callers, all of the same id. */
function registryOf(...callers: readonly Caller[]): { registry: QueryRegistry; live: readonly ActiveQuery[] } {
  const registry = new QueryRegistry();
  const live = callers.map((caller) => statement(caller, ID));
  for (const one of live) registry.add(one);
  return { registry, live };
}
const owners = (registry: QueryRegistry, caller: Caller, asked: object = {}): readonly PrincipalId[] =>
  liveQueries(registry, caller, { ...ALL, ...asked }).queries.map((query) => query.principal);

test('a principal sees its own statements, an administrator those of the tenant, and nobody those of another', () => {
  const { registry } = registryOf(ann, bob, stranger);
  expect(owners(registry, ann)).toEqual(['ann']);
  expect(owners(registry, ann, { owner: 'bob' })).toEqual([]);
  expect(owners(registry, admin)).toEqual(['ann', 'bob']);
  expect(owners(registry, admin, { owner: 'bob' })).toEqual(['bob']);
  expect(owners(registry, stranger)).toEqual(['root']);
  expect(owners(registry, stranger, { owner: 'ann' })).toEqual([]);
});

test('a list has a limit, a total, and no long text', () => {
  const { registry } = registryOf(ann, bob);
  const { queries, total } = liveQueries(registry, admin, { ...ALL, limit: 1 });
  expect([queries.length, total]).toEqual([1, 2]);
  expect(Buffer.byteLength(queries[0]?.sql ?? '')).toBeLessThanOrEqual(4_096);
  expect(queries[0]).toMatchObject({ state: 'queued', source: 'etl', startedAtMs: null, rowsProduced: 0 });
});

test('whoever takes the records of a statement is told its class from the plan on', () => {
  const told: unknown[] = [];
  const active = statement(ann, ID, { record: (one, workClass) => told.push([one.row().status, workClass]) });
  active.describe({ classification: { workClass: 'medium', reasons: [], estimatedRows: 1, isSet: false } });
  active.started();
  active.failed(new SkeinError('QUERY_CANCELLED', 'x'), 0);
  expect(told).toEqual([
    ['queued', null],
    ['running', 'medium'],
    ['cancelled', 'medium'],
  ]);
});

test('the record of a statement that failed has the rows that its client got, and the costs of all its runs', () => {
  const active = statement(ann, ID);
  active.started();
  for (const [bytesScanned, fragments] of [
    [9, 1],
    [5, 3],
  ] as const) {
    const stages = Array.from({ length: fragments }, () => ({}) as StageReport);
    active.follow({ progress: { ...NO_PROGRESS, bytesScanned }, stages }, () => 42);
  }
  active.failed(new SkeinError('DIVISION_BY_ZERO', 'x'), 17);
  expect(active.row()).toMatchObject({ status: 'failed', rows_produced: 17, bytes_scanned: 14, fragments: 4 });
});

test('a state is that of the moment', () => {
  const { registry, live } = registryOf(ann);
  const [active] = live;
  const progress = {
    tasks: 3,
    tasksDone: 1,
    tasksRunning: 2,
    bytesScanned: 9,
    coreMs: 0,
    retries: 0,
    workers: ['worker-2'],
  };
  active?.started();
  active?.follow({ progress, stages: [] }, () => 42);
  expect(liveQueries(registry, ann, ALL).queries[0]).toMatchObject({ state: 'running', rowsProduced: 42, progress });
  expect(owners(registry, ann, { state: 'queued' })).toEqual([]);
  expect(cancelQuery(registry, ann, { queryId: queryId(ID), owner: null })).toBe(true);
  expect(owners(registry, ann, { state: 'cancelling' })).toEqual(['ann']);
  // It is cancelled once, and its error says by whom.
  expect(cancelQuery(registry, ann, { queryId: queryId(ID), owner: null })).toBe(false);
  expect(active?.signal.reason).toMatchObject({ message: 'the query was cancelled by its user' });
});

test('an administrator cancels any of the tenant, by its principal where several have one of the id', () => {
  const { registry, live } = registryOf(ann, bob, stranger);
  const query = { queryId: queryId(ID.toUpperCase()), owner: null };
  expect(() => cancelQuery(registry, admin, query)).toThrow('several principals');
  expect(cancelQuery(registry, bob, { ...query, owner: 'ann' })).toBe(false);
  expect(cancelQuery(registry, admin, { ...query, owner: 'carol' })).toBe(false);
  expect(cancelQuery(registry, admin, { ...query, owner: 'ann' })).toBe(true);
  expect(live.map(({ signal }) => signal.aborted)).toEqual([true, false, false]);
  expect(live[0]?.signal.reason).toMatchObject({ message: 'the query was cancelled by an administrator' });
});

test('after any sequence of starts and ends, a list has exactly the live queries of the tenant', () => {
  const step = fc.record({ kind: fc.constantFrom('add', 'remove', 'cancel'), who: fc.nat(3), id: fc.nat(2) });
  const callers = [ann, bob, admin, stranger];
  const ids = [randomUUID(), randomUUID(), randomUUID()];
  fc.assert(
    fc.property(fc.array(step), (steps) => {
      const registry = new QueryRegistry();
      const live = new Map<string, ActiveQuery>();
      for (const { kind, who, id } of steps) {
        const caller = callers[who] ?? ann;
        const key = `${caller.claims.tenant} ${caller.claims.sub} ${id}`;
        const found = live.get(key);
        if (kind === 'add') {
          const added = statement(caller, ids[id] ?? ID);
          if (found === undefined) registry.add(added);
          else expect(() => registry.add(added)).toThrow(SkeinError);
          live.set(key, found ?? added);
        } else if (kind === 'remove' && found !== undefined) {
          registry.remove(found);
          live.delete(key);
        } else if (kind === 'cancel' && found?.signal.aborted !== true) {
          const isLive = cancelQuery(registry, caller, { queryId: queryId(ids[id] ?? ID), owner: caller.claims.sub });
          expect(isLive).toBe(found !== undefined);
        }
      }
      const all = { ...ALL, limit: 500 };
      expect(registry.size).toBe(live.size);
      expect(liveQueries(registry, admin, all).total).toBe(
        [...live.keys()].filter((one) => one.startsWith('acme')).length,
      );
      expect(liveQueries(registry, stranger, all).queries.every((one) => one.tenant === 'other')).toBe(true);
    }),
    { numRuns: 50 },
  );
});

test('a long statement is cut once, not by every list that has it', () => {
  const registry = new QueryRegistry();
  registry.add(statement(ann, ID, { text: 'é€'.repeat(1_300_000) }));
  const before = process.threadCpuUsage();
  for (let i = 0; i < 200; i += 1) expect(liveQueries(registry, ann, ALL).total).toBe(1);
  const { user, system } = process.threadCpuUsage(before);
  expect((user + system) / 1_000).toBeLessThan(100);
});
