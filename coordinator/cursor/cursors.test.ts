import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { principalId, tenantId } from '#shared/id.ts';
import type { SessionKey } from '../session/session-store.ts';
import type { DoorSink, ResultBatch } from '../sink/result-sink.ts';
import { encodeMade, numberColumns } from '../sink/made-rows.ts';
import type { Transaction } from '../transaction/transaction.ts';
import { Cursors, type CursorOwner, type CursorsOptions, type NewCursor } from './cursors.ts';

const folder = mkdtempSync(join(tmpdir(), 'cursors-'));
afterAll(() => rmSync(folder, { recursive: true }));

const sessionKey = (id: string, tenant: string): SessionKey => ({
  tenant: tenantId(tenant),
  principal: principalId('p'),
  kind: 'named',
  id,
});
/** A session, and a token with scopes of one epoch. */
const key = (id: string, tenant = 't', scope = 'a b', epoch = 1): CursorOwner => ({
  session: sessionKey(id, tenant),
  keeper: { tenant: tenantId(tenant), sub: principalId('p'), scope, sess_epoch: epoch },
});
const MINE = key('mine');
const columns = numberColumns(['n', 'text']);
const NEVER = new AbortController().signal;

const made = (options: Partial<CursorsOptions> = {}): Cursors =>
  new Cursors({
    perSessionMax: 3,
    perPrincipalMax: 100,
    bytesMax: 100_000,
    bytesInAllMax: 1_000_000,
    memoryBytesMax: 2_000,
    folder,
    idleMs: 60_000,
    isHeldSession: () => false,
    ...options,
  });

/** A cursor of so many rows, in batches of ten. */
async function opened(
  cursors: Cursors,
  name: string,
  rows: number,
  more: Partial<NewCursor> & { session?: CursorOwner } = {},
): Promise<void> {
  const { session = MINE, ...given } = more;
  const cursor = { name, position: 0, sql: 'x', canScroll: true, isHeld: false, transaction: null, ...given };
  const result = cursors.open(session, cursor);
  result.planned({ kind: 'rows', tag: 'SELECT', columns, timeZone: 'UTC' });
  result.start();
  for (let from = 0; from < rows; from += 10) {
    const batch = Array.from({ length: Math.min(10, rows - from) }, (_, i) => [from + i, from + i + 0.5]);
    await result.batch(
      encodeMade(
        'arrow',
        columns,
        batch.map(([n = 0]) => [n, -n]),
      ),
    );
  }
  result.finish({ rowCount: rows, elapsedMs: 0 });
}

/** The rows that a move gives, as JSON. */
async function fetched(
  cursors: Cursors,
  name: string,
  count: number | 'all',
  kind: 'forward' | 'backward' = 'forward',
): Promise<string> {
  const texts: string[] = [];
  const sink = {
    encoding: 'json',
    batch: ({ body }: ResultBatch) => void texts.push(body.toString()),
  } as unknown as DoorSink;
  await cursors.fetch(MINE, { name, position: 7 }, { kind, count }).into(sink, NEVER);
  return texts.join('');
}

const CODE = (code: string): object => expect.objectContaining({ code }) as object;

test('rows come from memory and from disk, across batches, in both directions', async () => {
  using cursors = made();
  await opened(cursors, 'c', 1_000);
  expect(await fetched(cursors, 'c', 3)).toBe(',[0,0],[1,-1],[2,-2]');
  expect(cursors.move(MINE, { name: 'C', position: 0 }, { kind: 'absolute', count: 999 })).toBe(1);
  expect(await fetched(cursors, 'c', 5)).toBe(',[999,-999]');
  expect(await fetched(cursors, 'c', 3, 'backward')).toBe(',[999,-999],[998,-998],[997,-997]');
  expect((await fetched(cursors, 'c', 'all', 'backward')).split(',[').length).toBe(998);
  expect((await fetched(cursors, 'c', 'all')).split(',[').length).toBe(1_001);
});

test('a session has so many, names are taken once, and what is closed gives its bytes back', async () => {
  using cursors = made();
  for (const name of ['a', 'b', 'c']) await opened(cursors, name, 10);
  await expect(opened(cursors, 'd', 1)).rejects.toThrow(CODE('TOO_MANY_CURSORS'));
  await expect(opened(cursors, 'A', 1)).rejects.toThrow(CODE('CURSOR_EXISTS'));
  await opened(cursors, 'a', 10, { session: key('other') });
  expect(cursors.bytes).toBeGreaterThan(0);
  cursors.close(MINE, { name: 'b', position: 0 });
  expect(() => cursors.close(MINE, { name: 'b', position: 3 })).toThrow(CODE('CURSOR_NOT_FOUND'));
  cursors.closeAll(MINE);
  cursors.closeAll(key('other'));
  expect(cursors.bytes).toBe(0);
});

test('a cursor is no longer than it may be, and those of a tenant have half of all bytes', async () => {
  using small = made({ bytesMax: 1_000 });
  await expect(opened(small, 'c', 1_000)).rejects.toThrow('(coordinator.cursor_bytes_max)');
  using cursors = made({ bytesInAllMax: 100_000 });
  await expect(opened(cursors, 'c', 2_000)).rejects.toThrow('(coordinator.cursors_bytes)');
  cursors.closeIfOpen(MINE, 'c');
  await opened(cursors, 'c', 100, { session: key('other', 'u') });
});

test('one that runs is not read, and those of a transaction end with it, but for one WITH HOLD of one that commits', async () => {
  using cursors = made();
  cursors.open(MINE, { name: 'runs', position: 0, sql: 'x', canScroll: true, isHeld: false, transaction: null });
  expect(cursors.find(MINE, 'runs')).toBeUndefined();
  expect(() => cursors.move(MINE, { name: 'runs', position: 0 }, { kind: 'forward', count: 1 })).toThrow(
    CODE('CURSOR_NOT_FOUND'),
  );
  cursors.closeIfOpen(MINE, 'runs');
  const [first, second] = [{}, {}] as unknown as readonly [Transaction, Transaction];
  const there = (): readonly boolean[] => ['a', 'h', 'b'].map((name) => cursors.find(MINE, name) !== undefined);
  await opened(cursors, 'a', 1, { transaction: first });
  await opened(cursors, 'h', 1, { transaction: first, isHeld: true });
  const { mark } = cursors;
  await opened(cursors, 'b', 1, { transaction: first });
  cursors.wentBack(first, mark);
  expect(there()).toEqual([true, true, false]);
  cursors.transactionEnded(second, true);
  cursors.transactionEnded(first, true);
  expect(there()).toEqual([false, true, false]);
  await opened(cursors, 'b', 1, { transaction: second, isHeld: true });
  cursors.transactionEnded(second, false);
  expect(there()).toEqual([false, true, false]);
});

test('one outside of a transaction ends when it is not used, unless a connection holds its session', async () => {
  let isHeldSession = true;
  using cursors = made({ idleMs: 20, isHeldSession: () => isHeldSession });
  await opened(cursors, 'h', 1, { isHeld: true });
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(cursors.find(MINE, 'h')).toBeDefined();
  isHeldSession = false;
  await expect.poll(() => cursors.find(MINE, 'h')).toBeUndefined();
});

test('a token with fewer scopes, or from after a change of rights, has nothing of it', async () => {
  using cursors = made();
  const [narrow, later] = [key('mine', 't', 'a'), key('mine', 't', 'a b', 2)];
  const named = { name: 'c', position: 0 };
  await opened(cursors, 'c', 10);
  expect(cursors.find(narrow, 'c')).toBeUndefined();
  expect(() => cursors.fetch(narrow, named, { kind: 'forward', count: 1 })).toThrow(CODE('CURSOR_NOT_FOUND'));
  expect(() => cursors.move(narrow, named, { kind: 'forward', count: 1 })).toThrow(CODE('CURSOR_NOT_FOUND'));
  expect(() => cursors.shape(narrow, named)).toThrow(CODE('CURSOR_NOT_FOUND'));
  expect(() => cursors.close(narrow, named)).toThrow(CODE('CURSOR_NOT_FOUND'));
  cursors.closeAll(narrow);
  cursors.closeIfOpen(narrow, 'c');
  await expect(opened(cursors, 'c', 1, { session: narrow })).rejects.toThrow(CODE('CURSOR_EXISTS'));
  expect(cursors.find(key('mine', 't', 'a b c'), 'c')).toBeDefined();
  expect(cursors.find(MINE, 'c')).toBeDefined();
  await opened(cursors, 'c', 1, { session: later });
  expect(cursors.find(MINE, 'c')).toBeUndefined();
  expect(cursors.find(later, 'c')).toBeDefined();
  cursors.sessionEnded(narrow.session);
  expect(cursors.bytes).toBe(0);
});

test('a principal has so many in all sessions', async () => {
  using cursors = made({ perPrincipalMax: 2 });
  await opened(cursors, 'c', 1, { session: key('1') });
  await opened(cursors, 'c', 1, { session: key('2') });
  await expect(opened(cursors, 'c', 1, { session: key('3') })).rejects.toThrow(
    '(coordinator.cursors_per_principal_max)',
  );
  await opened(cursors, 'c', 1, { session: key('3', 'u') });
  cursors.closeAll(key('1'));
  await opened(cursors, 'c', 1, { session: key('3') });
});
