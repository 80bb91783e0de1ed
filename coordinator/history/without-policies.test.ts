import { expect, test } from 'vitest';
import { withoutPolicies } from './without-policies.ts';

const profile = (query: object): string =>
  JSON.stringify({
    workload: { class: 'batch', reasons: ['9 rows'], estimatedRows: 9, resourceGroup: 'a.b', priority: 3 },
    queriesOmitted: 1,
    isCut: false,
    queries: [query],
  });

test('what was shown to somebody who may manage policies is left out for others', () => {
  const text = withoutPolicies(profile({ showsPolicies: true, stages: ['raw'] }));
  expect(JSON.parse(text)).toEqual({
    workload: { class: 'batch', reasons: [], estimatedRows: null, resourceGroup: 'a.b', priority: 3 },
    queriesOmitted: 2,
    isCut: true,
    queries: [],
  });
});

test('any other profile stays as it is, also one whose statement spells the word', () => {
  for (const query of [{ stages: [] }, { plan: ['"showsPolicies":true'] }]) {
    expect(withoutPolicies(profile(query))).toBe(profile(query));
  }
});
