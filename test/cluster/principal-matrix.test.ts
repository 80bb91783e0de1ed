import { generateKeyPairSync } from 'node:crypto';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import { statementOutcomes } from '#test/support/statement-outcomes.ts';

/**
 * Every statement about principals, by every kind of caller, about every kind of target. The outcomes are written down in the files beside
 * this one: `done`, or the SQLSTATE of the refusal. 42501 = the caller may not; any other one comes after that decision, from what is there.
 */
const TENANT = 'matrix';
const PASSWORD = 'Matrix-Horse-9';
const ACTORS = ['admin', 'users', 'pats', 'accounts', 'plain', 'bot'] as const;
type Actor = (typeof ACTORS)[number];

/** The names of the targets, but for the caller himself. */
const USERS = {
  'a plain user': 'other',
  'a holder': 'holder',
  'an admin': 'boss',
  'one dropped': 'gone',
  nobody: 'no',
};
const ACCOUNTS = { 'a plain account': 'other_bot', 'an admin account': 'boss_bot', nobody: 'no' };

let cluster: Cluster;
let outcome: ReturnType<typeof statementOutcomes>;
const publicKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .publicKey.export({ type: 'spki', format: 'pem' })
  .toString();

async function asRoot(...statements: readonly string[]): Promise<void> {
  for (const sql of statements) expect([sql, await outcome('root', sql)]).toEqual([sql, 'done']);
}
const createUser = (name: string): string => `CREATE USER ${name} EMAIL '${name}@example.org' PASSWORD '${PASSWORD}'`;
const GIVEN: Readonly<Record<string, readonly string[]>> = {
  holder: ['GRANT MANAGE PATS TO USER holder'],
  boss: ['GRANT ROLE tenant_admin TO USER boss'],
  boss_bot: ['GRANT ROLE tenant_admin TO SERVICE ACCOUNT boss_bot'],
  gone: ['DROP USER gone'],
};
const given = (name: string): readonly string[] => GIVEN[name] ?? [];

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  outcome = statementOutcomes(cluster, TENANT);
  await cluster.cliOk(['admin', 'tenant', 'create', TENANT, '--user', 'root']);
  const users = [...ACTORS.filter((actor) => actor !== 'bot'), ...Object.values(USERS).filter((name) => name !== 'no')];
  await asRoot(`CREATE ROLE matrix_role SCOPE 'table:read'`, ...users.map(createUser));
  await asRoot(
    'GRANT ROLE tenant_admin TO USER admin',
    'GRANT MANAGE USERS TO USER users',
    'GRANT MANAGE PATS TO USER pats',
    'GRANT MANAGE SERVICE ACCOUNTS TO USER accounts',
    ...['bot', 'other_bot', 'boss_bot'].map((name) => `CREATE SERVICE ACCOUNT ${name}`),
    ...['holder', 'boss', 'gone', 'boss_bot'].flatMap(given),
  );
});

/** A statement about a target `t`, and what makes its success undone. */
type Statement = readonly [sql: (t: string) => string, undo?: (t: string) => readonly string[]];

const USER_STATEMENTS: readonly Statement[] = [
  [(t) => `DESCRIBE USER ${t}`],
  [(t) => `SHOW GRANTS TO USER ${t}`],
  [(t) => `ALTER USER ${t} SET COMMENT = 'x' DISPLAY_NAME = 'y'`],
  [(t) => `ALTER USER ${t} SET EMAIL = '${t}.2@example.org'`],
  [(t) => `ALTER USER ${t} UNSET COMMENT`],
  [(t) => `ALTER USER ${t} SET DEFAULT_ROLE = tenant_admin`],
  // Too short, which is told to those who may.
  [(t) => `ALTER USER ${t} SET PASSWORD = 'short'`],
  [(t) => `ALTER USER ${t} RENAME TO ${t}_2`, (t) => [`ALTER USER ${t}_2 RENAME TO ${t}`]],
  [(t) => `ALTER USER ${t} UNLOCK`],
  [(t) => `ALTER USER ${t} SUSPEND`, (t) => [`ALTER USER ${t} UNSUSPEND`]],
  [(t) => `ALTER USER ${t} UNSUSPEND`],
  [(t) => `ALTER USER ${t} SET LEGAL HOLD REASON 'r'`, (t) => [`ALTER USER ${t} CLEAR LEGAL HOLD`]],
  [(t) => `ALTER USER ${t} CLEAR LEGAL HOLD`],
  [(t) => `DROP USER ${t}`, (t) => (t === 'gone' ? [] : [`UNDROP USER ${t}`, ...given(t)])],
  [(t) => `DROP USER ${t} CASCADE`, (t) => (t === 'gone' ? [] : [`UNDROP USER ${t}`, ...given(t)])],
  [(t) => `DROP USER IF EXISTS ${t}`, (t) => (t === 'gone' || t === 'no' ? [] : [`UNDROP USER ${t}`, ...given(t)])],
  [(t) => `UNDROP USER ${t}`, (t) => [`DROP USER ${t}`]],
  [(t) => `EXPUNGE USER ${t} REASON 'r'`, (t) => [createUser(t), ...given(t)]],
  [(t) => `CREATE PERSONAL ACCESS TOKEN m FOR ${t}`, (t) => [`DROP PERSONAL ACCESS TOKEN m FOR ${t}`]],
  [(t) => `DROP PERSONAL ACCESS TOKEN m FOR ${t}`],
  [(t) => `SHOW PERSONAL ACCESS TOKENS FOR ${t}`],
  [(t) => `GRANT ROLE matrix_role TO USER ${t}`, (t) => [`REVOKE ROLE matrix_role FROM USER ${t}`]],
  [(t) => `REVOKE ROLE matrix_role FROM USER ${t}`],
  [(t) => `GRANT MANAGE USERS TO USER ${t}`, (t) => [`REVOKE MANAGE USERS FROM USER ${t}`]],
  [(t) => `REVOKE MANAGE USERS FROM USER ${t}`],
  [(t) => `DROP SERVICE ACCOUNT ${t}`],
];

const ACCOUNT_STATEMENTS: readonly Statement[] = [
  [(t) => `SHOW GRANTS TO SERVICE ACCOUNT ${t}`],
  [
    (t) => `ALTER SERVICE ACCOUNT ${t} ADD KEYPAIR KEY_ID 'k' PUBLIC_KEY '${publicKey}'`,
    (t) => [`ALTER SERVICE ACCOUNT ${t} DROP KEYPAIR KEY_ID 'k'`],
  ],
  [(t) => `ALTER SERVICE ACCOUNT ${t} DROP KEYPAIR KEY_ID 'k'`],
  [(t) => `CREATE PERSONAL ACCESS TOKEN m FOR ${t}`, (t) => [`DROP PERSONAL ACCESS TOKEN m FOR ${t}`]],
  [(t) => `DROP PERSONAL ACCESS TOKEN m FOR ${t}`],
  [(t) => `SHOW PERSONAL ACCESS TOKENS FOR ${t}`],
  [
    (t) => `GRANT ROLE matrix_role TO SERVICE ACCOUNT ${t}`,
    (t) => [`REVOKE ROLE matrix_role FROM SERVICE ACCOUNT ${t}`],
  ],
  [(t) => `REVOKE ROLE matrix_role FROM SERVICE ACCOUNT ${t}`],
  [(t) => `GRANT MANAGE USERS TO USER ${t}`],
  [(t) => `DROP USER ${t}`],
  [(t) => `DROP SERVICE ACCOUNT ${t}`, (t) => [`CREATE SERVICE ACCOUNT ${t}`, ...given(t)]],
];

/** Statements without a target that is there. */
const OTHERS: readonly (readonly [sql: string, ...undo: readonly string[]])[] = [
  [`CREATE USER m EMAIL 'm@example.org'`, 'DROP USER m', `EXPUNGE USER m REASON 'r'`],
  [`CREATE USER m EMAIL 'm@example.org' DEFAULT_ROLE public`, 'DROP USER m', `EXPUNGE USER m REASON 'r'`],
  [`CREATE USER m EMAIL 'm@example.org' DEFAULT_ROLE matrix_role`, 'DROP USER m CASCADE', `EXPUNGE USER m REASON 'r'`],
  [`CREATE USER m EMAIL 'm@example.org' DEFAULT_ROLE tenant_admin`, 'DROP USER m CASCADE', `EXPUNGE USER m REASON 'r'`],
  [`CREATE USER IF NOT EXISTS boss EMAIL 'm@example.org'`],
  ['SHOW USERS'],
  ['CREATE SERVICE ACCOUNT m', 'DROP SERVICE ACCOUNT m'],
  ['CREATE SERVICE ACCOUNT m DEFAULT_ROLE public', 'DROP SERVICE ACCOUNT m'],
  ['CREATE SERVICE ACCOUNT m DEFAULT_ROLE tenant_admin', 'DROP SERVICE ACCOUNT m'],
  ['SHOW SERVICE ACCOUNTS'],
  ['CREATE ROLE m', 'DROP ROLE m'],
  [`ALTER ROLE matrix_role SET COMMENT 'x'`],
  [`ALTER ROLE tenant_admin SET SCOPE 'table:read'`],
  ['DROP ROLE no'],
  ['DROP ROLE public'],
  ['SHOW ROLES'],
  [`CREATE WEBHOOK m URL 'https://hooks.example.org/m' SECRET '0123456789abcdef' EVENTS ('nothing')`, 'DROP WEBHOOK m'],
  ['ALTER WEBHOOK no RETRY'],
  ['DROP WEBHOOK no'],
  ['SHOW WEBHOOKS'],
  ['SHOW WEBHOOK DELIVERIES'],
  ['SHOW AUDIT LOG'],
  [`REDEEM INVITATION 'skein_inv_none' WITH PASSWORD '${PASSWORD}'`],
  [`ALTER USER SELF SET PASSWORD 'Other-Horse-9' OLD PASSWORD 'wrong'`],
];

/** The outcomes of one statement: a line for each target, a column for each caller. */
async function block(
  title: string,
  lines: readonly (readonly [target: string, name: (actor: Actor) => string | null])[],
  [sql, undo = () => []]: Statement,
): Promise<string> {
  const out: string[] = [title];
  for (const [target, nameFor] of lines) {
    const cells: string[] = [];
    for (const actor of ACTORS) {
      const name = nameFor(actor);
      const found = name === null ? '' : await outcome(actor, sql(name));
      if (name !== null && found === 'done') await asRoot(...undo(name));
      cells.push(found.padEnd(9));
    }
    out.push(`  ${target.padEnd(17)} ${cells.join(' ')}`.trimEnd());
  }
  return out.join('\n');
}
const HEADER = `  ${''.padEnd(17)} ${ACTORS.map((actor) => actor.padEnd(9)).join(' ')}`.trimEnd();
const file = (name: string): string => join(import.meta.dirname, `principal-matrix-${name}.txt`);
const written = (blocks: readonly string[]): string => `${[HEADER, ...blocks].join('\n\n')}\n`;

async function allBlocks(
  statements: readonly Statement[],
  targets: Readonly<Record<string, string>>,
  itself: (actor: Actor) => string | null,
): Promise<readonly string[]> {
  const lines = [
    ['himself', itself] as const,
    ...Object.entries(targets).map(([target, name]) => [target, () => name] as const),
  ];
  const blocks: string[] = [];
  for (const statement of statements) {
    const title = statement[0]('t').replace(publicKey, 'pem');
    blocks.push(await block(title, lines, statement));
  }
  return blocks;
}

test('statements about users: each caller and each target', { timeout: 300_000 }, async () => {
  const blocks = await allBlocks(USER_STATEMENTS, USERS, (actor) => (actor === 'bot' ? null : actor));
  await expect(written(blocks)).toMatchFileSnapshot(file('users'));
});

test('statements about service accounts: each caller and each target', { timeout: 300_000 }, async () => {
  const blocks = await allBlocks(ACCOUNT_STATEMENTS, ACCOUNTS, (actor) => (actor === 'bot' ? actor : null));
  await expect(written(blocks)).toMatchFileSnapshot(file('accounts'));
});

test('all other statements about principals: each caller', { timeout: 300_000 }, async () => {
  const blocks: string[] = [];
  for (const [sql, ...undo] of OTHERS) {
    blocks.push(await block(sql, [['', () => '']], [() => sql, () => undo]));
  }
  await expect(written(blocks)).toMatchFileSnapshot(file('others'));
});
