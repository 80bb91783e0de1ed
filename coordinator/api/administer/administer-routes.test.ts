import { afterAll, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer, PrincipalRequest } from '#shared/principal/principal-request.ts';
import { callerOf } from '#test/support/api-fixtures.ts';
import { allowing } from '#test/support/decisions.ts';
import { ADMINISTER_OPERATIONS, DocumentedRoutes } from '#test/support/documented-routes.ts';
import { DEFAULT_WORKLOAD, type Workload } from '../../workload/workload.ts';
import { administerRoutes } from './administer-routes.ts';

const asked: PrincipalRequest[] = [];
const NAMES = ['analyst', 'auditor', 'Tenant <b>admin</b>'].map((name) => [name, '']);
const ENTRY = ['0001', '2026-01-01 10:00:00+00', 'create_user', null, null, null, "O'Brien", '{"roles":["a"]}'];
const COLUMNS = ['id', 'created_at', 'event_type', 'actor_id', 'actor_name', 'target_id', 'target_name', 'details'];

/** Answers as the catalog does: pages of the audit log, all roles at once. */
function answerOf(request: PrincipalRequest): PrincipalAnswer {
  asked.push(request);
  const { kind } = request;
  if (kind === 'show_roles') return { columns: ['name', 'scope'], rows: NAMES, next: null };
  if (kind === 'show_tokens') throw new SkeinError('PRINCIPAL_NOT_FOUND', 'there is no such principal');
  if (kind === 'show_webhooks') throw new SkeinError('FORBIDDEN', 'this is for a tenant_admin');
  if (kind !== 'search_audit_log') return { columns: ['username'], rows: [['ann']], next: 'ann' };
  return { columns: COLUMNS, rows: [ENTRY], next: request.after === null ? 'further' : null };
}

const workload: Workload = {
  ...DEFAULT_WORKLOAD,
  rules: [
    { tenant: null, user: 'ann', source: 'etl', resourcePool: null, queryType: null, target: ['root'], priority: 2 },
  ],
};
const routes = new DocumentedRoutes(
  { good: callerOf('t', 'p', allowing('query.list')), poor: callerOf('t', 'q', allowing()) },
  (app, parts) =>
    administerRoutes(app, {
      administer: {
        principals: { runPrincipalStatement: async (_principal, request) => answerOf(request) },
        workload: () => workload,
      },
      ...parts,
    }),
);
afterAll(() => routes[Symbol.asyncDispose]());

const post = (body: string, as = 'good') => routes.ask('/api/workload/route', { method: 'POST', body, as });

test('every operation answers as the OpenAPI document says, when it succeeds and when it fails', async () => {
  const answers = [
    await routes.ask('/api/principals/users?search=a&status=ACTIVE&limit=1'),
    await routes.ask('/api/principals/service-accounts?search=a'),
    await routes.ask('/api/principals/webhook-deliveries?of=w'),
    await routes.ask('/api/principals/roles'),
    await routes.ask('/api/principals/roles?status=ACTIVE'),
    await routes.ask('/api/principals/users?role=analyst&privilege=MANAGE%20USERS'),
    await routes.ask('/api/principals/service-accounts?privilege=BYPASS%20POLICIES'),
    await routes.ask('/api/principals/users?privilege=ALL'),
    await routes.ask('/api/principals/tokens?role=analyst'),
    await routes.ask('/api/principals/people'),
    await routes.ask('/api/principals/tokens?of=gone'),
    await routes.ask('/api/principals/webhooks'),
    await routes.ask('/api/audit?event=create%25&from=2026-01-01T00:00:00.000Z'),
    await routes.ask('/api/audit?format=jsonl'),
    await routes.ask('/api/audit?from=yesterday'),
    await post('{"user":"ann","source":"etl"}'),
    await post('{"user":"ann","source":7}'),
    await post('{"user":"ann"}', 'poor'),
  ];
  const seen = Map.groupBy(answers, ({ operation }) => operation);
  expect(Object.fromEntries([...seen].map(([name, of]) => [name, of.map(({ status }) => status)]))).toEqual({
    listPrincipals: [200, 200, 200, 200, 400, 200, 200, 400, 400, 400, 400, 403],
    readAudit: [200, 200, 400],
    routeWorkload: [200, 400, 403],
  });
  expect([...seen.keys()].toSorted()).toEqual(ADMINISTER_OPERATIONS);
});

test('a list that the catalog tells whole is searched and paged by name', async () => {
  const ask = async (query: string): Promise<unknown> =>
    JSON.parse((await routes.ask(`/api/principals/roles?${query}`)).text);
  expect(await ask('limit=2')).toMatchObject({ rows: NAMES.slice(0, 2), next: 'auditor' });
  expect(await ask('limit=2&after=auditor')).toMatchObject({ rows: NAMES.slice(2), next: null });
  expect(await ask('search=%3CB%3E')).toMatchObject({ rows: NAMES.slice(2), next: null });
});

test('filters of the audit log go to the catalog as they are, and details are JSON', async () => {
  const { text } = await routes.ask('/api/audit?actor=O%27Brien&target=x&to=2026-01-01T00:00:00.000Z&limit=7');
  expect(asked.at(-1)).toEqual({
    kind: 'search_audit_log',
    event: null,
    actor: "O'Brien",
    target: 'x',
    from: null,
    to: '2026-01-01T00:00:00.000Z',
    after: null,
    limit: 7,
  });
  expect(JSON.parse(text)).toMatchObject({
    entries: [{ created_at: '2026-01-01T10:00:00.000Z', target_name: "O'Brien", details: { roles: ['a'] } }],
    next: 'further',
  });
});

test('JSON lines have all pages', async () => {
  const { text, type } = await routes.ask('/api/audit?format=jsonl');
  expect(type).toContain('application/x-ndjson');
  expect(
    text
      .trimEnd()
      .split('\n')
      .map((line) => (JSON.parse(line) as { id: string }).id),
  ).toEqual(['0001', '0001']);
});

test('a route names the group and the rule', async () => {
  expect(JSON.parse((await post('{"user":"ann","source":"etl"}')).text)).toEqual({
    group: 'root',
    rule: 1,
    priority: 2,
  });
  expect(JSON.parse((await post('{"user":"bob"}')).text)).toMatchObject({ rule: null, priority: null });
});
