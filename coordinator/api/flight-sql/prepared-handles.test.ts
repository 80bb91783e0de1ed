import { Schema } from 'apache-arrow';
import { expect, test } from 'vitest';
import type { PrincipalId, TenantId } from '#shared/id.ts';
import type { SessionKey } from '../../session/session-store.ts';
import type { BoundRows } from './bound-rows.ts';
import { PreparedHandles } from './prepared-handles.ts';

const key = (principal: string, id = 's'): SessionKey => ({
  tenant: 't' as TenantId,
  principal: principal as PrincipalId,
  kind: 'named',
  id,
});
const statement = (sql: string): Parameters<PreparedHandles['add']>[1] => ({
  sql,
  transaction: undefined,
  description: { kind: 'nothing', parameters: [] } as never,
  bound: null,
});

const rowsOf = (bytes: number): BoundRows => ({ schema: new Schema([]), batches: [], count: 1, bytes });

let nowMs = 0;
const open = (): PreparedHandles =>
  new PreparedHandles({ perSessionMax: 2, bytesPerPrincipalMax: 100, idleMs: 1_000, nowMs: () => nowMs });

test('a session has so many handles, and a closed one makes room', () => {
  const handles = open();
  const first = handles.add(key('ann'), statement('a'));
  handles.add(key('ann'), statement('b'));
  expect(() => handles.add(key('ann'), statement('c'))).toThrow('the session has 2 prepared statements');
  handles.add(key('ann', 'other'), statement('c'));
  handles.remove(key('ann'), first);
  handles.add(key('ann'), statement('c'));
});

test('texts and bound rows of a principal have so many bytes together, whichever session they are in', () => {
  const handles = open();
  const first = handles.add(key('ann', '1'), statement('x'.repeat(30)));
  expect(() => handles.add(key('ann', '2'), statement('x'.repeat(30)))).toThrow('would have 120 bytes');
  handles.add(key('bob'), statement('x'.repeat(30)));
  handles.bind(key('ann', '1'), first, rowsOf(40));
  expect(() => handles.bind(key('ann', '1'), first, rowsOf(41))).toThrow('101');
  handles.removeAll(key('ann', '1'));
  handles.add(key('ann', '2'), statement('x'.repeat(50)));
});

test('a handle of somebody else, or one that nobody has used for long, is not there', () => {
  const handles = open();
  const handle = handles.add(key('ann'), statement('a'));
  expect(() => handles.find(key('bob'), handle)).toThrow('no such prepared statement');
  nowMs += 900;
  handles.find(key('ann'), handle);
  nowMs += 900;
  expect(handles.find(key('ann'), handle).sql).toBe('a');
  nowMs += 1_001;
  expect(() => handles.find(key('ann'), handle)).toThrow('no such prepared statement');
});
