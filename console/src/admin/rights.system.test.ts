import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { refusalOf } from '../inspect/may.ts';
import { principalRefusal } from './rights.ts';

/**
 * The questions of the console's pages and the deeds of their buttons, by every kind of reader. The answers to the pages are written down in the file
 * beside this one; a button is offered to those alone whom the server lets do it.
 */
const TENANT = 'console_matrix';
const PASSWORD = 'Matrix-Horse-9';
const READERS = ['root', 'users', 'pats', 'accounts', 'policies', 'plain', 'nothing'] as const;
type Reader = (typeof READERS)[number];

let cluster: Cluster;
const publicKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .publicKey.export({ type: 'spki', format: 'pem' })
  .toString();

async function outcome(user: string, sql: string): Promise<string> {
  const { body } = await cluster.query(sql, { token: await cluster.token({ tenant: TENANT, user }) });
  return body.error === undefined ? 'done' : must(body.sql_state, body.error);
}
async function asRoot(...statements: readonly string[]): Promise<void> {
  for (const sql of statements) expect([sql, await outcome('root', sql)]).toEqual([sql, 'done']);
}
async function ask(user: string, path: string, body?: string): Promise<Response> {
  const authorization = `Bearer ${await cluster.token({ tenant: TENANT, user })}`;
  const more = body === undefined ? {} : { method: 'POST', body };
  const headers = { authorization, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
  return fetch(`${cluster.queryUrl}/api/${path}`, { ...more, headers });
}

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.cliOk(['admin', 'tenant', 'create', TENANT, '--user', 'root']);
  await cluster.cliOk(['admin', 'catalog', 'create', TENANT, '--tenant', TENANT]);
  await asRoot(
    `CREATE ROLE reads SCOPE 'catalog:read namespace:read table:read'`,
    ...[...READERS.filter((name) => name !== 'root'), 'other'].map(
      (name) => `CREATE USER ${name} EMAIL '${name}@example.org' PASSWORD '${PASSWORD}'`,
    ),
    ...READERS.filter((name) => name !== 'root' && name !== 'nothing').map(
      (name) => `GRANT ROLE reads TO USER ${name}`,
    ),
    'GRANT MANAGE USERS TO USER users',
    'GRANT MANAGE PATS TO USER pats',
    'GRANT MANAGE SERVICE ACCOUNTS TO USER accounts',
    'GRANT MANAGE POLICIES TO USER policies',
    'CREATE SERVICE ACCOUNT other_bot',
    `CREATE SCHEMA ${TENANT}.s`,
    `CREATE TABLE ${TENANT}.s.t AS SELECT 1 AS id, 'x' AS v`,
    `CREATE MASKING POLICY ${TENANT}.s.hide AS (v VARCHAR) RETURNS VARCHAR -> NULL::VARCHAR`,
  );
});

/** Questions of the pages, below `/api/`. */
const QUESTIONS = [
  'whoami',
  'principals/users?search=o',
  'principals/users?role=reads',
  'principals/users?privilege=BYPASS%20POLICIES',
  'principals/roles',
  'principals/service-accounts',
  'principals/service-accounts?role=reads',
  'principals/tokens',
  'principals/tokens?of=other',
  'principals/webhooks',
  'principals/webhook-deliveries',
  'audit',
  'audit?format=jsonl',
  'query?limit=500',
  'query-history?fields=all',
  'query-history/summary?by=username',
  'resource-groups',
  'cluster',
  'cluster/series',
  'objects',
  `catalogs/${TENANT}/dropped-tables`,
  ...['details', 'snapshots', 'files', 'health'].map((page) => `catalogs/${TENANT}/namespaces/s/tables/t/${page}`),
];

test('the questions of all pages: each reader', async () => {
  const line = async (title: string, body?: string): Promise<string> => {
    const cells: string[] = [];
    for (const reader of READERS) cells.push(String((await ask(reader, title, body)).status).padEnd(9));
    return `${title.padEnd(55)} ${cells.join(' ')}`.trimEnd();
  };
  const lines = [`${''.padEnd(55)} ${READERS.map((reader) => reader.padEnd(9)).join(' ')}`.trimEnd()];
  for (const path of QUESTIONS) lines.push(await line(path));
  lines.push(await line('workload/route', JSON.stringify({ user: 'other' })));
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(join(import.meta.dirname, 'rights-of-pages.txt'));
});

type Me = Parameters<typeof principalRefusal>[0] & { readonly actions: readonly string[] };
/** A statement that a button makes, what undoes it, and why the page does not offer it. */
type Button = readonly [sql: string, undo: string | null, refusal: (me: Me) => string | undefined];

const bound = `ALTER TABLE ${TENANT}.s.t ALTER COLUMN v`;
const BUTTONS: readonly Button[] = [
  [
    `ALTER USER other SET COMMENT = 'x'`,
    'ALTER USER other UNSET COMMENT',
    (me) => principalRefusal(me, 'MANAGE USERS'),
  ],
  ['ALTER USER other SUSPEND', 'ALTER USER other UNSUSPEND', (me) => principalRefusal(me, 'MANAGE USERS')],
  ['DESCRIBE USER other', null, (me) => principalRefusal(me, 'MANAGE USERS', 'principal:read')],
  [
    'CREATE PERSONAL ACCESS TOKEN b FOR other',
    'DROP PERSONAL ACCESS TOKEN b FOR other',
    (me) => principalRefusal(me, 'MANAGE PATS'),
  ],
  [
    `ALTER SERVICE ACCOUNT other_bot ADD KEYPAIR KEY_ID 'b' PUBLIC_KEY '${publicKey}'`,
    `ALTER SERVICE ACCOUNT other_bot DROP KEYPAIR KEY_ID 'b'`,
    (me) => principalRefusal(me, 'MANAGE SERVICE ACCOUNTS'),
  ],
  ['CREATE SERVICE ACCOUNT b', 'DROP SERVICE ACCOUNT b', (me) => principalRefusal(me, 'MANAGE SERVICE ACCOUNTS')],
  ['CREATE ROLE b', 'DROP ROLE b', (me) => principalRefusal(me, null)],
  ['GRANT ROLE reads TO USER other', 'REVOKE ROLE reads FROM USER other', (me) => principalRefusal(me, null)],
  ['GRANT MANAGE PATS TO USER other', 'REVOKE MANAGE PATS FROM USER other', (me) => principalRefusal(me, null)],
  [
    `CREATE WEBHOOK b URL 'https://hooks.example.org/b' SECRET '0123456789abcdef' EVENTS ('nothing')`,
    'DROP WEBHOOK b',
    (me) => principalRefusal(me, null),
  ],
  [
    `CREATE ROW ACCESS POLICY ${TENANT}.s.b AS (v VARCHAR) RETURNS BOOLEAN -> true`,
    `DROP ROW ACCESS POLICY ${TENANT}.s.b`,
    (me) => principalRefusal(me, 'MANAGE POLICIES'),
  ],
  [`DESCRIBE MASKING POLICY ${TENANT}.s.hide`, null, (me) => principalRefusal(me, 'MANAGE POLICIES', 'principal:read')],
  [
    `${bound} SET MASKING POLICY ${TENANT}.s.hide`,
    `${bound} UNSET MASKING POLICY`,
    (me) => principalRefusal(me, 'MANAGE POLICIES'),
  ],
  [
    `COMMENT ON TABLE ${TENANT}.s.t IS 'b'`,
    `COMMENT ON TABLE ${TENANT}.s.t IS NULL`,
    ({ actions }) => refusalOf(actions, 'table.commit'),
  ],
  [`CREATE SCHEMA ${TENANT}.b`, `DROP SCHEMA ${TENANT}.b`, ({ actions }) => refusalOf(actions, 'schema.create')],
  [`SELECT * FROM ${TENANT}.s.t`, null, ({ actions }) => refusalOf(actions, 'table.select')],
];

test('a button is offered to those alone whom the server lets do it', async () => {
  const wrong: unknown[] = [];
  for (const reader of READERS) {
    const me = (await (await ask(reader, 'whoami')).json()) as Me;
    for (const [sql, undo, refusal] of BUTTONS) {
      const isOffered = refusal(me) === undefined;
      const result = await outcome(reader, sql);
      if (result === 'done' && undo !== null) await asRoot(undo);
      if (isOffered !== (result === 'done')) wrong.push([reader, sql, isOffered, result]);
    }
  }
  expect(wrong).toEqual([]);
});

test('a reader sees rows as one of his own roles, and as no other', async () => {
  const as = async (reader: Reader, role: string): Promise<string> => outcome(reader, `USE ROLE ${role}`);
  expect(await as('plain', 'reads')).toBe('done');
  expect(await as('plain', 'public')).toBe('done');
  expect(await as('plain', 'tenant_admin')).toBe('42704');
  expect(await as('root', 'reads')).toBe('42704');
});
