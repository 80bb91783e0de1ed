import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { principalId, tenantId } from '#shared/id.ts';
import { DelegationLog, type Asked } from './delegation-log.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const ASKED: Asked = {
  event: 'sign',
  principal: {
    sub: principalId('p'),
    tenant: tenantId('t'),
    preferred_username: 'u',
    roles: [],
    scope: '',
    sess_epoch: 0,
    auth_method: 'client',
  },
  table: { catalog: 'c', ident: { namespace: ['a', 'b'], name: 't' } },
  method: 'GET',
  key: 's3://bucket/t/one',
};

function logged(level: string): { readonly lines: Record<string, unknown>[]; readonly log: DelegationLog } {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Record<string, unknown>);
  return { lines, log: new DelegationLog(pino({ level, base: null, timestamp: false }, { write })) };
}

const WHO = { event: 'sign', tenant: 't', principal: 'p', table: 'c.a.b.t', method: 'GET' };

test('signatures that are granted are one line a minute for each principal, table and method, with their count', () => {
  const { lines, log } = logged('info');
  for (let i = 0; i < 3; i += 1) log.granted({ ...ASKED, key: `s3://bucket/t/${i}` });
  log.granted({ ...ASKED, method: 'PUT' });
  expect(lines).toEqual([]);
  vi.advanceTimersByTime(60_000);
  expect(lines.map(({ msg: _msg, level: _level, ...line }) => line)).toEqual([
    { ...WHO, verdict: 'granted', reason: null, count: 3 },
    { ...WHO, method: 'PUT', verdict: 'granted', reason: null, count: 1 },
  ]);
  vi.advanceTimersByTime(120_000);
  expect(lines).toHaveLength(2);
});

test('at the level debug they are a line each; keys and refusals always are', () => {
  const debug = logged('debug');
  debug.log.granted(ASKED);
  expect(debug.lines).toMatchObject([{ ...WHO, key: ASKED.key, verdict: 'granted' }]);
  const { lines, log } = logged('info');
  log.granted({ ...ASKED, event: 'vend', method: 'read' });
  log.refused(ASKED, 'it is not in the table');
  expect(lines).toMatchObject([
    { ...WHO, event: 'vend', method: 'read', key: ASKED.key, verdict: 'granted', reason: null },
    { ...WHO, key: ASKED.key, verdict: 'refused', reason: 'it is not in the table' },
  ]);
});

test('what is counted is told at the end, and a long key is cut', () => {
  const { lines, log } = logged('info');
  log.granted(ASKED);
  log[Symbol.dispose]();
  expect(lines).toMatchObject([{ count: 1 }]);
  log.refused({ ...ASKED, key: 'k'.repeat(100_000) }, 'it is too long');
  expect(String(lines[1]?.['key']).length).toBeLessThan(5_000);
});
