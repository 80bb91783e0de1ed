import { describe, expect, test } from 'vitest';
import { readWorkload } from './read-workload.ts';
import { route, type RoutedStatement } from './route.ts';

const GROUPS =
  'resource_groups: [{name: root, groups: [{name: a}, {name: b}, {name: "${TENANT}-${SOURCE}", groups: [{name: "${USER}"}]}]}]';

const STATEMENT: RoutedStatement = {
  tenant: 'acme',
  principal: '00000000-0000-0000-0000-000000000001',
  username: 'ann',
  source: 'etl',
  resourcePool: 'nightly',
  queryType: 'insert',
};

const target = (rules: string, statement: Partial<RoutedStatement> = {}): string =>
  route(readWorkload(`${GROUPS}\nrouting_rules: ${rules}`, 'w.yaml').rules, { ...STATEMENT, ...statement })
    .path.map(({ name }) => name)
    .join('.');

test('the first rule that matches decides, and without one a query goes to root', () => {
  const rules =
    '[{match_user: bob, target_group: root.a}, {match_source: etl, target_group: root.b}, {target_group: root.a}]';
  expect(target(rules)).toBe('root.b');
  expect(target(rules, { source: null })).toBe('root.a');
  expect(target('[{match_user: bob, target_group: root.a}]')).toBe('root');
  expect(target('[]')).toBe('root');
});

describe('a rule by', () => {
  test.each([
    ['match_tenant', 'match_tenant', 'acme', { tenant: 'other' }],
    ['match_user', 'match_user', 'ann', { username: 'bob' }],
    ['match_user, the id', 'match_user', '00000000-0000-0000-0000-000000000001', { principal: '2' }],
    ['match_source', 'match_source', 'etl', { source: null }],
    ['match_resource_pool', 'match_resource_pool', 'nightly', { resourcePool: '' }],
    ['match_query_type', 'match_query_type', 'insert', { queryType: 'select' }],
  ])('%s', (_, key, value, other) => {
    const rules = `[{${key}: "${value}", target_group: root.a}]`;
    expect(target(rules)).toBe('root.a');
    expect(target(rules, other)).toBe('root');
    // Exact: no pattern, no other case.
    expect(target(`[{${key}: "${value.slice(0, -1)}", target_group: root.a}]`.replace('inser"', 'update"'))).toBe(
      'root',
    );
  });
});

test('target_group may hold the tenant, the user and the source', () => {
  const rules = '[{target_group: "root.${TENANT}-${SOURCE}.${USER}"}]';
  expect(target(rules)).toBe('root.acme-etl.ann');
  expect(target(rules, { source: null, username: '${TENANT}' })).toBe('root.acme-none.${TENANT}');
});

test('a rule may give a priority', () => {
  const { rules } = readWorkload('routing_rules: [{target_group: root, priority: 0}]', 'w.yaml');
  expect(route(rules, STATEMENT)).toMatchObject({ priority: 0, rule: 1 });
});
