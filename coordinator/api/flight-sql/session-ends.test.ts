import { afterEach, expect, test } from 'vitest';
import { EXPIRY_TOLERANCE_MS } from '#shared/authorization/token-claims.ts';
import type { PrincipalId, TenantId } from '#shared/id.ts';
import type { SessionKey } from '../../session/session-store.ts';
import { SessionEnds } from './session-ends.ts';

const key = (id: string): SessionKey => ({
  tenant: 't' as TenantId,
  principal: 'p' as PrincipalId,
  kind: 'named',
  id,
});

let nowMs = 0;
let ended: string[] = [];
let sessions: SessionEnds;

function open(sessionsMax: number): void {
  ended = [];
  const end = ({ id }: SessionKey): Promise<void> => {
    ended.push(id);
    return Promise.resolve();
  };
  sessions = new SessionEnds({ nowMs: () => nowMs, sessionsMax, intervalMs: 1_000_000, end });
}
afterEach(() => sessions[Symbol.dispose]());

/** The ids of the sessions that have ended when the clock shows this time. */
async function endedAt(seconds: number): Promise<readonly string[]> {
  nowMs = seconds * 1_000 + EXPIRY_TOLERANCE_MS;
  await sessions.sweep();
  return ended;
}

test('a session ends once, with the token of its last call', async () => {
  open(10);
  sessions.seen(key('a'), 100);
  sessions.seen(key('b'), 100);
  sessions.seen(key('b'), 200);
  expect(await endedAt(99)).toEqual([]);
  expect(await endedAt(100)).toEqual(['a']);
  expect(await endedAt(300)).toEqual(['a', 'b']);
});

test('those that were used least recently are forgotten first', async () => {
  open(2);
  for (const id of ['a', 'b', 'a', 'c']) sessions.seen(key(id), 100);
  expect(await endedAt(300)).toEqual(['a', 'c']);
});
