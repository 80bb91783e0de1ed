import { expect, test } from 'vitest';
import { defaultConfig } from '#shared/config/config-schema.ts';
import { principalId, tenantId } from '#shared/id.ts';
import { EMPTY_SESSION, setting, withoutSetting, withSetting } from './session.ts';
import { matchesLike } from '../command/like.ts';
import { SessionStore, type SessionKey } from './session-store.ts';

const config = defaultConfig();
const PREPARED = { preparedBytesMax: 100, preparedBytesPerPrincipalMax: 60 };
const key = (id: string, principal = 'p'): SessionKey => ({
  tenant: tenantId('t'),
  principal: principalId(principal),
  kind: 'named',
  id,
});

test('settings are set in canonical form, shown, and reset one by one or all', () => {
  const set = withSetting(
    withSetting(EMPTY_SESSION, 'TimeZone', 'europe/berlin', config),
    'skein.query_timeout',
    '5s',
    config,
  );
  expect([setting(set, 'timezone', config), setting(set, 'skein.query_timeout', config)]).toEqual([
    'Europe/Berlin',
    '5s',
  ]);
  expect(setting(withoutSetting(set, 'timezone'), 'timezone', config)).toBe('UTC');
  expect(setting(withoutSetting(set, null), 'skein.query_timeout', config)).toBe('600000ms');
});

test.each([
  ['client_encoding', 'latin1'],
  ['statement_timeout', '-1'],
  ['statement_timeout', '40d'],
  ['is_superuser', 'on'],
  ['jit', 'x'.repeat(1_001)],
  ['timezone', 'Mars/Olympus'],
  ['timezone', "UTC'; DROP"],
  ['service.workload_class', 'vip'],
  ['service.resource_pool', 'a b'],
  ['skein.query_timeout', '-1s'],
  ['skein.query_timeout', '365d'],
  ['skein.query_memory_limit', '1TB'],
])('SET %s = %s is refused', (name, value) => {
  expect(() => withSetting(EMPTY_SESSION, name, value, config)).toThrow(
    expect.objectContaining({ code: 'INVALID_REQUEST' }),
  );
});

test.each(['memory_limit', 'threads', 'skein.nothing', '__proto__', 'constructor'])(
  'there is no setting %s',
  (name) => {
    expect(() => withSetting(EMPTY_SESSION, name, '1', config)).toThrow(
      expect.objectContaining({ code: 'SETTING_NOT_FOUND' }),
    );
  },
);

test('a session belongs to its principal, ends when idle, and is bounded', () => {
  let now = 0;
  const clock = { nowMs: () => now, monotonicMs: () => now };
  const store = new SessionStore({ idleMs: 100, sessionsMax: 2, perPrincipalMax: 2, ...PREPARED, clock });
  const use = (catalog: string) => (state: typeof EMPTY_SESSION) => ({ ...state, catalog });
  store.update(key('a'), use('one'));
  expect(store.get(key('A')).catalog).toBe('one');
  expect(store.get(key('a', 'other')).catalog).toBeNull();
  store.update(key('b'), use('two'));
  expect(() => store.update(key('c'), use('x'))).toThrow(expect.objectContaining({ code: 'QUEUE_FULL' }));
  now = 90;
  store.get(key('a'));
  now = 150;
  expect(store.get(key('b')).catalog).toBeNull();
  expect(store.get(key('a')).catalog).toBe('one');
  expect(store.size).toBe(1);
});

test('a principal with too many sessions gets no further one, and takes none from others', () => {
  const clock = { nowMs: () => 0, monotonicMs: () => 0 };
  const store = new SessionStore({ idleMs: 60_000, sessionsMax: 4, perPrincipalMax: 2, ...PREPARED, clock });
  const use = (state: typeof EMPTY_SESSION) => ({ ...state, catalog: 'c' });
  store.update(key('mine', 'quiet'), use);
  for (const id of ['1', '2']) store.update(key(id, 'loud'), use);
  expect(() => store.update(key('3', 'loud'), use)).toThrow(
    'you have 2 sessions, as many as a user may: each ends when it was idle for 60 s',
  );
  // Its existing session continues, and other principals begin new ones.
  store.update(key('1', 'loud'), use);
  store.update(key('second', 'quiet'), use);
  expect(store.get(key('mine', 'quiet')).catalog).toBe('c');
  expect(() => store.update(key('x', 'third'), use)).toThrow('too many sessions are open');
  // A session that holds nothing any more does not count.
  store.update(key('1', 'loud'), () => EMPTY_SESSION);
  expect(store.size).toBe(3);
  store.update(key('3', 'loud'), use);
  store.update(key('nothing', 'third'), (state) => state);
  expect(store.size).toBe(4);
});

test.each([
  ['orders', 'or%', true],
  ['orders', '%s', true],
  ['orders', 'o_d%', true],
  ['orders', 'Or%', false],
  ['a%b', 'a\\%b', true],
  ['axb', 'a\\%b', false],
  ['', '%', true],
  ['a'.repeat(10_000), `${'%a'.repeat(5_000)}b`, false],
])('%s LIKE %s is %s', (text, pattern, expected) => {
  expect(matchesLike(text, pattern)).toBe(expected);
});

test('the settings of distribution take their words and bounds, whatever the case', () => {
  const set = (name: string, value: string): string =>
    setting(withSetting(EMPTY_SESSION, name, value, config), name as 'skein.partitions', config);
  expect(set('skein.distribution', ' FORCE ')).toBe('force');
  expect(set('skein.join_distribution', 'broadcast')).toBe('broadcast');
  expect(['auto', '1', '01024'].map((value) => set('skein.partitions', value))).toEqual(['auto', '1', '1024']);
  for (const value of ['0', '1025', '-1', '1e3', 'many']) {
    expect(() => set('skein.partitions', value)).toThrow('skein.partitions must be auto, or from 1 to 1024');
  }
  expect(() => set('skein.distribution', 'maybe')).toThrow('auto, single or force');
});

test('prepared statements take no more memory than a user and all users may have, and give it back', () => {
  let now = 0;
  const clock = { nowMs: () => now, monotonicMs: () => now };
  const store = new SessionStore({ idleMs: 100, sessionsMax: 9, perPrincipalMax: 9, ...PREPARED, clock });
  const prepare = (bytes: number) => (state: typeof EMPTY_SESSION) => ({
    ...state,
    prepared: new Map([['p', { name: 'p', sql: '', parameters: [], columns: null, bytes }]]),
  });
  const refused = expect.objectContaining({ code: 'TOO_MANY_PREPARED_STATEMENTS' });
  store.update(key('1', 'loud'), prepare(40));
  expect(() => store.update(key('2', 'loud'), prepare(21))).toThrow(refused);
  store.update(key('2', 'loud'), prepare(20));
  store.update(key('1', 'quiet'), prepare(40));
  expect(() => store.update(key('1', 'other'), prepare(1))).toThrow('of all users');
  // Less is always possible, and a statement that takes the place of another counts once.
  store.update(key('1', 'loud'), prepare(39));
  store.update(key('1', 'other'), prepare(1));
  store.update(key('2', 'loud'), () => EMPTY_SESSION);
  store.update(key('1', 'loud'), prepare(59));
  expect(() => store.update(key('1', 'loud'), prepare(61))).toThrow(refused);
  expect(store.get(key('1', 'loud')).prepared.get('p')?.bytes).toBe(59);
  now = 200;
  store.update(key('1', 'other'), prepare(60));
  expect(store.size).toBe(1);
});

test('a session that a connection holds lasts until it is ended, and is not one of those that its principal may have', () => {
  let now = 0;
  const clock = { nowMs: () => now, monotonicMs: () => now };
  const store = new SessionStore({ idleMs: 100, sessionsMax: 1, perPrincipalMax: 1, ...PREPARED, clock });
  const [held, other] = [key('held'), key('other')];
  store.keep(held);
  store.update(held, (state) => ({ ...state, catalog: 'c' }));
  store.update(other, (state) => ({ ...state, catalog: 'c' }));
  now = 1_000;
  expect([store.get(held).catalog, store.get(other).catalog]).toEqual(['c', null]);
  store.end(held);
  expect([store.get(held), store.size]).toEqual([EMPTY_SESSION, 0]);
});
