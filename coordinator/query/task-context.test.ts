import { expect, test } from 'vitest';
import { taskContext } from './task-context.ts';

const place = { timeZone: 'Asia/Tokyo', currentCatalog: 'lake', currentSchema: 'tpch' };
const context = {
  ...place,
  nowMicros: '1708000000000000',
  currentUser: 'ann',
  currentRole: 'auditor',
  roles: ['auditor', 'public'],
  currentTenant: 'acme',
  session: { backendPid: 7, settings: {} },
};
const blank = { nowMicros: '0', currentUser: '' };
const reader = { currentUser: 'ann', currentRole: 'auditor', roles: context.roles, currentTenant: 'acme' };
const nowhere = { timeZone: 'Asia/Tokyo', currentCatalog: '', currentSchema: '' };

test.each([
  ['of nothing', { contextual: false, placeAlone: true, asksReader: false }, { ...nowhere, ...blank }],
  ['of its place', { contextual: true, placeAlone: true, asksReader: false }, { ...place, ...blank }],
  ['of anything else', { contextual: true, placeAlone: false, asksReader: false }, context],
  [
    'of the reader, for policies',
    { contextual: false, placeAlone: true, asksReader: true },
    { ...nowhere, ...blank, ...reader },
  ],
  [
    'of its place, over policies that ask for the reader',
    { contextual: true, placeAlone: true, asksReader: true },
    context,
  ],
] as const)('a query that asks for facts %s has these', (_name, query, expected) => {
  expect(taskContext(query, context)).toEqual(expected);
});
