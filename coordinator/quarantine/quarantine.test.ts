import { expect, test } from 'vitest';
import { principalId, tenantId } from '#shared/id.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { Quarantine, type Kill, type KillStore } from './quarantine.ts';

const HOUR = 3_600_000;
const tenant = tenantId('acme');
const shape = (fingerprint: string, principal = 'ann') => ({
  tenant,
  principal: principalId(principal),
  username: principal,
  fingerprint,
  sql: 'SELECT 1',
});

function memoryStore(): KillStore & { readonly kills: Map<string, Kill> } {
  const kills = new Map<string, Kill>();
  return {
    kills,
    load: () => Promise.resolve([...kills.values()]),
    add: (kill) => Promise.resolve(void kills.set(kill.id, kill)),
    remove: (id) => Promise.resolve(void kills.delete(id)),
  };
}

function quarantine(store = memoryStore()) {
  let nowMs = 1_000_000_000;
  const clock = { nowMs: () => nowMs, monotonicMs: () => nowMs };
  const options = { store, clock, log: silentLogger, ttlMs: HOUR, killsMax: 3, windowMs: HOUR / 2 };
  return { kills: new Quarantine(options), store, pass: (ms: number) => void (nowMs += ms) };
}

test('the shape is refused for its principal until its time is over', () => {
  const { kills, pass } = quarantine();
  kills.add(shape('f'), 'it hung');
  expect(() => kills.check(shape('f'))).toThrow(expect.objectContaining({ code: 'STATEMENT_QUARANTINED' }));
  kills.check(shape('g'));
  kills.check(shape('f', 'bob'));
  pass(HOUR + 1);
  kills.check(shape('f'));
  expect(kills.list(tenant)).toEqual([]);
});

test('a principal that does it again and again is refused altogether, for the window, and nobody else is', () => {
  const { kills, pass } = quarantine();
  for (const name of ['a', 'b', 'c']) kills.add(shape(name), 'it hung');
  expect(() => kills.check(shape('other'))).toThrow(expect.objectContaining({ code: 'PRINCIPAL_LIMITED' }));
  kills.check(shape('other', 'bob'));
  pass(HOUR / 2 + 1);
  kills.check(shape('other'));
  expect(() => kills.check(shape('a'))).toThrow('refused until');
});

test('an operator lifts one of the tenant, and no other tenant does', async () => {
  const { kills, store } = quarantine();
  kills.add(shape('f'), 'it hung');
  const [one] = kills.list(tenant);
  expect(one).toMatchObject({ fingerprint: 'f', reason: 'it hung', username: 'ann' });
  expect(kills.list(tenantId('other'))).toEqual([]);
  expect(await kills.lift(tenantId('other'), one?.id ?? '')).toBe(false);
  expect(await kills.lift(tenant, one?.id ?? '')).toBe(true);
  kills.check(shape('f'));
  expect(store.kills.size).toBe(0);
});

test('the next coordinator knows what this one knew', async () => {
  const { kills, store } = quarantine();
  kills.add(shape('f'), 'it hung');
  const next = quarantine(store).kills;
  next.check(shape('f'));
  await next.open();
  expect(() => next.check(shape('f'))).toThrow('refused until');
});

test('a tenant that fills the list pushes out its own, not the one of another', () => {
  const { kills } = quarantine();
  kills.add(shape('f'), 'it hung');
  const other = tenantId('other');
  for (let i = 0; i < 10_000; i++) kills.add({ ...shape(`f${i}`), tenant: other }, 'it hung');
  expect(kills.list(tenant)).toHaveLength(1);
  expect(kills.list(other)).toHaveLength(9_999);
});
