import { expect, test } from 'vitest';
import { principalId, tenantId } from '#shared/id.ts';
import type { Database } from '../store/postgres/tables.ts';
import type { Asked, DelegationLog } from './delegation-log.ts';
import { findPlace } from './find-place.ts';

const ASKED = {
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
  method: 'GET',
  key: 'http://store/bucket/x',
} as const;

test.each([
  ['a catalog', [], 'Warehouse does not exist: c'],
  ['a table', [{ tableId: null }], 'Table does not exist: n.x'],
])('the log tells of whoever names %s that is not there', async (_what, rows, reason) => {
  const told: [Asked, string][] = [];
  const delegationLog = { refused: (asked: Asked, why: string) => told.push([asked, why]) } as unknown as DelegationLog;
  const db = { executeQuery: () => Promise.resolve({ rows }) } as unknown as Database;
  const name = { catalog: 'c', ident: { namespace: ['n'], name: 'x' } };
  await expect(findPlace({ store: { db }, delegationLog }, ASKED, name)).rejects.toThrow(reason);
  expect(told).toEqual([[{ ...ASKED, table: name }, expect.stringContaining(reason)]]);
});
