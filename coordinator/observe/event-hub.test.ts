import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { queryId } from '#shared/id.ts';
import { callerOf, historyRow, liveQuery, recordedOf, view } from '#test/support/api-fixtures.ts';
import { allowing } from '#test/support/decisions.ts';
import type { Caller } from '../auth/authenticate.ts';
import type { LiveQuery } from '../operation/live-query.ts';
import { QueryRegistry } from '../query/query-registry.ts';
import { GroupAdmission } from '../workload/admission.ts';
import { readWorkload } from '../workload/read-workload.ts';
import { EventHub, type EventRequest } from './event-hub.ts';
import { TOPICS, type EventSink } from './event-stream.ts';

const WORKLOAD = `
resource_groups: [{name: root, groups: [{name: "\${TENANT}"}]}]
routing_rules: [{target_group: "root.\${TENANT}"}]
`;
const ADMIN = allowing('query.list');
const clock = { nowMs: () => Date.now(), monotonicMs: () => Date.now() };

let admission: GroupAdmission;
let registry: QueryRegistry;
let hub: EventHub;

beforeEach(() => {
  vi.useFakeTimers({ now: 1_000_000 });
  admission = new GroupAdmission({
    workload: readWorkload(WORKLOAD, 'w.yaml'),
    memory: { reservations: { interactive: 1, medium: 2, batch: 4 }, interactiveShare: 0.25 },
    memoryBytes: () => 1_000_000,
    clock,
  });
  registry = new QueryRegistry();
  hub = new EventHub({ epoch: 7, view, admission, registry, clock });
});
afterEach(() => {
  hub[Symbol.dispose]();
  admission[Symbol.dispose]();
  vi.useRealTimers();
});

type Told = { readonly id: string | null; readonly type: string; readonly data: Readonly<Record<string, unknown>> };

/** A reader in memory: what it was told, and how much it has yet to take. */
class Reader implements EventSink {
  text = '';
  pendingBytes = 0;
  state: 'open' | 'ended' | 'destroyed' = 'open';
  write(text: string): void {
    this.text += text;
  }
  end(): void {
    this.state = 'ended';
  }
  destroy(): void {
    this.state = 'destroyed';
  }

  /** The events since the last call, parsed as a browser does. */
  take(): readonly Told[] {
    const blocks = this.text.split('\n\n').filter((block) => block.includes('event: '));
    this.text = '';
    return blocks.map((block) => {
      const field = (name: string): string | null =>
        block
          .split('\n')
          .find((line) => line.startsWith(`${name}: `))
          ?.slice(name.length + 2) ?? null;
      return { id: field('id'), type: field('event') ?? '', data: JSON.parse(field('data') ?? '') as Told['data'] };
    });
  }

  queries(): readonly unknown[] {
    return this.take().flatMap(({ id, type, data }) =>
      type === 'query' ? [[id, data['query_id'], data['status']]] : [],
    );
  }
}

function open(caller: Caller, request: Partial<EventRequest> = {}): Reader & { readonly left: () => void } {
  const reader = new Reader();
  const reauthenticate = (): Promise<Caller> => Promise.resolve(caller);
  const left = hub.open(caller, { topics: new Set(TOPICS), after: null, reauthenticate, ...request }, reader);
  return Object.assign(reader, { left });
}

const look = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1_000);

/** Fields of a statement that no stream asks for. */
const OF_OTHERS = { recordId: '', profileNow: () => null, cancel: () => false } as const;

/** A statement that runs; `change` changes how far it is. */
function run(live: LiveQuery): { change: (to: Partial<LiveQuery>) => void } {
  let now = live;
  registry.add({
    key: { tenant: live.tenant, principal: live.principal, queryId: live.queryId },
    liveState: live.state,
    live: () => now,
    ...OF_OTHERS,
  });
  return { change: (to) => (now = { ...now, ...to }) };
}

const idOf = (n: number): string => `00000000-0000-0000-0000-${String(n).padStart(12, '0')}`;

describe('a stream', () => {
  test('begins with all that is there, and goes on with what changes', async () => {
    const running = run(liveQuery(callerOf('t').claims.sub, 3));
    const reader = open(callerOf('t'));
    const begun = reader.take();
    expect(begun.map(({ id, type }) => [id, type])).toEqual([
      ['7.1.0', 'reset'],
      [null, 'query'],
      [null, 'cluster'],
      [null, 'worker'],
      [null, 'worker'],
      [null, 'group'],
      [null, 'tasks'],
    ]);
    expect(begun[1]?.data).toMatchObject({ status: 'running', sql: 'SELECT 1', ended_at: null });
    expect(begun.at(-1)?.data).toMatchObject({ tasks: 5, tasks_done: 2, workers: ['worker-1'] });
    await look();
    expect(reader.take()).toEqual([]);
    running.change({ rowsProduced: 9 });
    hub.record(recordedOf(historyRow({ status: 'completed' })), null);
    expect(reader.queries()).toEqual([['7.1.1', idOf(1), 'completed']]);
    await look();
    expect(reader.take()).toMatchObject([{ type: 'tasks', data: { rows_produced: 9 } }]);
  });

  test('tells that a statement begins to wait, where and why', () => {
    const reader = open(callerOf('t'));
    reader.take();
    const live = liveQuery(callerOf('t').claims.sub, 1);
    const waiting = { position: 2, reason: 'root.t runs 1 of 1', resourceGroup: '/root/t' };
    const waits = { ...live, state: 'queued', startedAtMs: null, resourceGroup: '/root/t', waiting } as const;
    const key = { tenant: live.tenant, principal: live.principal, queryId: live.queryId };
    hub.changed({ key, liveState: 'queued', live: () => waits, ...OF_OTHERS });
    expect(reader.take()).toMatchObject([
      {
        id: '7.1.1',
        type: 'query',
        data: { status: 'queued', resource_group: '/root/t', queue_position: 2, reason: 'root.t runs 1 of 1' },
      },
    ]);
  });

  test('tells the class of a statement from its start on, and that it has another one', () => {
    const reader = open(callerOf('t'));
    reader.take();
    const told = (): unknown => reader.take().map(({ data }) => [data['status'], data['workload_class']]);
    hub.record(recordedOf(historyRow()), null);
    hub.record(recordedOf(historyRow({ status: 'running' })), 'interactive');
    expect(told()).toEqual([
      ['queued', null],
      ['running', 'interactive'],
    ]);
    const classification = { workClass: 'medium', reasons: [], estimatedRows: 1, isSet: false } as const;
    const live: LiveQuery = { ...liveQuery(callerOf('t').claims.sub, 2), classification };
    const key = { tenant: live.tenant, principal: live.principal, queryId: live.queryId };
    hub.changed({ key, liveState: 'running', live: () => live, ...OF_OTHERS });
    hub.record(recordedOf(historyRow({ status: 'completed' })), 'medium');
    expect(told()).toEqual([
      ['running', 'medium'],
      ['completed', 'medium'],
    ]);
  });

  test('tells only of the topics that it is asked for', async () => {
    run(liveQuery(callerOf('t').claims.sub, 3));
    const reader = open(callerOf('t'), { topics: new Set(['tasks']) });
    hub.record(recordedOf(historyRow()), null);
    await look();
    expect(reader.take().map(({ type }) => type)).toEqual(['reset', 'tasks']);
  });

  test('tells that a group is gone', async () => {
    const place = await admission.admit({
      statement: { tenant: 't', principal: 'p', username: 'u', source: null, resourcePool: '', queryType: 'select' },
      classification: { workClass: 'interactive', reasons: [], estimatedRows: 1, isSet: false },
      memoryLimitBytes: 1,
      signal: new AbortController().signal,
      onRouted: () => undefined,
      onReclassified: () => undefined,
    });
    const groups = (reader: Reader): unknown[] =>
      reader.take().flatMap(({ type, data }) => (type === 'group' ? [data] : []));
    const [own, other] = [open(callerOf('t')), open(callerOf('rival'))];
    expect(groups(own)).toMatchObject([
      { path: 'root', running: 1 },
      { path: 'root.t', running: 1 },
    ]);
    expect(groups(other)).toMatchObject([{ path: 'root', running: 1 }]);
    place.release();
    await look();
    expect(groups(own)).toMatchObject([
      { path: 'root', running: 0 },
      { path: 'root.t', gone: true },
    ]);
    expect(groups(other)).toMatchObject([{ path: 'root', running: 0 }]);
  });

  test('is kept alive while nothing happens', async () => {
    const reader = open(callerOf('t'));
    reader.take();
    await vi.advanceTimersByTimeAsync(31_000);
    expect(reader.text).toBe(':\n\n:\n\n');
  });

  test('has each event on one line, whatever a statement holds', () => {
    const reader = open(callerOf('t'));
    reader.take();
    hub.record(recordedOf(historyRow({ sql: "SELECT '\n\ndata: {}\n\nevent: end\r\n" })), null);
    expect(reader.take()).toMatchObject([{ type: 'query', data: { sql: "SELECT '\n\ndata: {}\n\nevent: end\r\n" } }]);
  });
});

describe('a reader that comes back', () => {
  test('is told all that it has missed, once', () => {
    const first = open(callerOf('t'));
    first.take();
    for (const n of [1, 2]) hub.record(recordedOf(historyRow({ query_id: idOf(n) })), null);
    first.take();
    first.left();
    for (const n of [3, 4]) hub.record(recordedOf(historyRow({ query_id: idOf(n) })), null);
    const again = open(callerOf('t'), { after: '7.1.2' });
    expect(again.take().map(({ id, type }) => [id, type])).toEqual([
      ['7.1.3', 'query'],
      ['7.1.4', 'query'],
      [null, 'cluster'],
      [null, 'worker'],
      [null, 'worker'],
      [null, 'group'],
    ]);
    hub.record(recordedOf(historyRow({ query_id: idOf(5) })), null);
    expect(again.queries()).toEqual([['7.1.5', idOf(5), 'queued']]);
    expect(first.take()).toEqual([]);
  });

  test.each([
    ['another term', '6.1.2'],
    ['an earlier log', '7.0.2'],
    ['the future', '7.1.261'],
    ['too long ago', '7.1.0'],
    ['nowhere', 'x'],
    ['nothing', ''],
    ['a number that is none', '7.1.1e2'],
    ['a very large number', `7.1.${'9'.repeat(80)}`],
  ])('from %s begins anew', (_from, after) => {
    open(callerOf('t')).left();
    for (let n = 0; n < 260; n++) hub.record(recordedOf(historyRow({ query_id: idOf(n) })), null);
    expect(open(callerOf('t'), { after }).take()[0]).toEqual({ id: '7.1.260', type: 'reset', data: {} });
    expect(open(callerOf('t'), { after: '7.1.4' }).queries().length).toBe(256);
  });

  test('after five minutes begins anew, because nothing was kept', async () => {
    open(callerOf('t')).left();
    hub.record(recordedOf(historyRow()), null);
    await vi.advanceTimersByTimeAsync(302_000);
    expect(open(callerOf('t'), { after: '7.1.0' }).take()[0]).toMatchObject({ id: '7.2.0', type: 'reset' });
  });
});

describe('who sees what', () => {
  test('a principal its own statements, an administrator those of the tenant, nobody those of another', async () => {
    const readers = [
      open(callerOf('t', 'ann')),
      open(callerOf('t', 'root', ADMIN)),
      open(callerOf('rival', 'ann', ADMIN)),
    ];
    for (const reader of readers) reader.take();
    run({ ...liveQuery(callerOf('t', 'bob').claims.sub, 3), queryId: queryId(idOf(8)) });
    hub.record(recordedOf(historyRow({ query_id: idOf(1), user_id: 'ann' })), null);
    hub.record(recordedOf(historyRow({ query_id: idOf(2), user_id: 'bob' })), null);
    hub.record(recordedOf(historyRow({ query_id: idOf(3), user_id: 'ann', tenant_id: 'rival' })), null);
    await look();
    const told = readers.map((reader) => reader.take().map(({ id, data }) => [id, data['query_id']]));
    expect(told).toEqual([
      [['7.1.1', idOf(1)]],
      [
        ['7.1.1', idOf(1)],
        ['7.1.2', idOf(2)],
        [null, idOf(8)],
      ],
      [['7.2.1', idOf(3)]],
    ]);
  });

  test('a stream ends when its token does', async () => {
    const refused = new SkeinError('UNAUTHENTICATED', 'the token has been revoked');
    let isValid = true;
    const caller = callerOf('t');
    const reader = open(caller, {
      reauthenticate: () => (isValid ? Promise.resolve(caller) : Promise.reject(refused)),
    });
    await look();
    reader.take();
    isValid = false;
    await look();
    hub.record(recordedOf(historyRow()), null);
    expect([reader.state, reader.take()]).toMatchObject([
      'ended',
      [{ type: 'end', data: { error: 'UNAUTHENTICATED', message: 'the token has been revoked' } }],
    ]);
  });

  test('an administrator that is none any more sees its own statements from then on', async () => {
    let caller = callerOf('t', 'ann', ADMIN);
    const reader = open(caller, { reauthenticate: () => Promise.resolve(caller) });
    caller = callerOf('t', 'ann');
    await look();
    reader.take();
    hub.record(recordedOf(historyRow({ user_id: 'bob' })), null);
    expect(reader.queries()).toEqual([]);
  });
});

describe('a reader that is slow', () => {
  test('is cut off when too much waits for it', () => {
    const [slow, quick] = [open(callerOf('t')), open(callerOf('t'))];
    for (let n = 1; n <= 1_000; n++) {
      slow.pendingBytes += 1_000;
      hub.record(recordedOf(historyRow()), null);
    }
    expect([slow.state, quick.state, quick.queries().length]).toEqual(['destroyed', 'open', 1_000]);
    expect(slow.queries().length).toBeLessThan(300);
  });

  test('misses steps in between, and not the last one', async () => {
    const running = run(liveQuery(callerOf('t').claims.sub, 3));
    const reader = open(callerOf('t'));
    reader.take();
    reader.pendingBytes = 10;
    for (const rowsProduced of [10, 20, 30]) {
      running.change({ rowsProduced });
      await look();
    }
    expect(reader.take()).toEqual([]);
    reader.pendingBytes = 0;
    await look();
    expect(reader.take()).toMatchObject([{ type: 'tasks', data: { rows_produced: 30 } }]);
  });

  test('is cut off when it has taken nothing for half a minute', async () => {
    const reader = open(callerOf('t'));
    reader.pendingBytes = 10;
    await vi.advanceTimersByTimeAsync(25_000);
    reader.pendingBytes = 9;
    await vi.advanceTimersByTimeAsync(25_000);
    expect([reader.state, hub.size]).toEqual(['open', 1]);
    await vi.advanceTimersByTimeAsync(10_000);
    expect([reader.state, hub.size]).toEqual(['destroyed', 0]);
  });
});

describe('limits', () => {
  test('of the streams of a principal and of a tenant; who leaves makes room', () => {
    const opened = Array.from({ length: 8 }, () => open(callerOf('t', 'ann')));
    expect(() => open(callerOf('t', 'ann'))).toThrow('too many event streams are open: the principal has 8');
    for (let n = 8; n < 64; n++) open(callerOf('t', `p${n}`));
    expect(() => open(callerOf('t', 'bob'))).toThrow('the tenant has 64');
    open(callerOf('rival', 'ann'));
    opened[0]?.left();
    open(callerOf('t', 'bob'));
    expect(() => open(callerOf('t', 'carl'))).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }));
  });

  test('of all', () => {
    for (let n = 0; n < 512; n++) open(callerOf(`t${n}`));
    expect(() => open(callerOf('more'))).toThrow('there are 512');
  });
});

test('without readers nothing is kept', () => {
  hub.record(recordedOf(historyRow()), null);
  expect(open(callerOf('t')).take()[0]).toMatchObject({ id: '7.1.0', type: 'reset' });
});

test('when the coordinator is no longer the active one, streams end and none is opened', () => {
  const reader = open(callerOf('t'));
  reader.take();
  hub[Symbol.dispose]();
  expect([reader.state, reader.take()]).toMatchObject(['ended', [{ type: 'end', data: { error: 'NOT_ACTIVE' } }]]);
  expect(() => open(callerOf('t'))).toThrow(expect.objectContaining({ code: 'NOT_ACTIVE' }));
});
