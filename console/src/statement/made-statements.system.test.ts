import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import type { Cluster } from '#test/support/cluster.ts';
import { sharedCluster } from '#test/support/resources.ts';
import * as admin from '../admin/statements.ts';
import * as inspect from '../inspect/statements.ts';
import * as load from '../load/load-statements.ts';
import type { MadeStatement } from './made-statement.ts';

/** Every statement that a form makes does what the form says, whatever the names are. */
const TENANT = 'console_forms';
const NAMES = [`a "b" 'c' ? 😀 $1 -- /* x */ ; <b onclick="x">\\`, `${'é'.repeat(127)}x`, 'SELECT'] as const;

let cluster: Cluster;
const publicKey = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  .publicKey.export({ type: 'spki', format: 'pem' })
  .toString();

type Rows = readonly (readonly unknown[])[];

/** Runs what a form has made, as the page does. */
async function run({ sql, secrets = [] }: MadeStatement): Promise<Rows> {
  // A grant to the caller ends his tokens.
  const token = await cluster.token({ tenant: TENANT, user: 'root' });
  return cluster.sql(sql, { token, ...(secrets.length === 0 ? {} : { parameters: [...secrets] }) });
}
async function all(...statements: readonly MadeStatement[]): Promise<void> {
  for (const statement of statements) await run(statement);
}
const firstOf = async (sql: string): Promise<readonly unknown[]> => (await run({ sql })).map(([first]) => first);

beforeAll(async () => {
  ({ cluster } = await sharedCluster());
  await cluster.cliOk(['admin', 'tenant', 'create', TENANT, '--user', 'root']);
});

test.each(NAMES)('people and machines that are called %s', async (name) => {
  const email = `u${NAMES.indexOf(name)}@example.org`;
  const fields = { email, displayName: name, defaultRole: '', comment: name };
  await all(
    admin.createRole(name, 'table:read', name),
    admin.alterRole(name, 'table:read namespace:read'),
    admin.createUser(name, fields, 'Correct-Horse-9 ?', true),
    admin.grantRole(name, 'USER', name),
    admin.alterUser(name, { ...fields, email: '', defaultRole: name }),
    admin.setPassword(name, `Battery-Staple-7 '"`),
    ...(['SUSPEND', 'UNSUSPEND', 'UNLOCK', 'RESET MFA'] as const).map((to) => admin.setUserState(name, to)),
    admin.setLegalHold(name, name),
    admin.setUserState(name, 'CLEAR LEGAL HOLD'),
    admin.grantPrivilege('MANAGE IDENTITY PROVIDERS', 'USER', name),
    admin.grantPrivilege('MANAGE IDENTITY PROVIDERS', 'USER', name, true),
  );
  const described = (await run(admin.describeUser(name)))[0] ?? [];
  expect(described.slice(0, 5)).toEqual([name, 'ACTIVE', email, name, name]);
  expect(await run(admin.showGrants('USER', name))).toContainEqual(['ROLE', name]);
  await all(
    admin.createAccount(name.slice(0, 250) + ' 2', name, name),
    admin.addKeypair(name.slice(0, 250) + ' 2', name, publicKey, 'ES256'),
    admin.dropKeypair(name.slice(0, 250) + ' 2', name),
    admin.createToken(name, name, '7', 'table:read'),
  );
  expect(await firstOf(`SHOW PERSONAL ACCESS TOKENS FOR ${quoteIdentifier(name)}`)).toEqual([name]);
  await all(
    admin.dropToken(name, name),
    admin.createWebhook(name, 'https://hooks.example.org/x', `secret '?' of 16 characters`, 'drop_ create_user'),
    admin.retryWebhook(name, ''),
  );
  expect(await firstOf('SHOW WEBHOOKS')).toEqual([name]);
  await all(
    admin.dropWebhook(name),
    admin.dropAccount(name.slice(0, 250) + ' 2'),
    admin.dropUser(name, true),
    admin.undropUser(name),
    admin.renameUser(name, `${name.slice(0, 250)} 3`),
    admin.dropUser(`${name.slice(0, 250)} 3`, false),
    admin.expungeUser(`${name.slice(0, 250)} 3`, name),
    admin.grantRole(name, 'USER', 'root'),
    admin.takeRole(name),
    admin.grantRole(name, 'USER', 'root', true),
    admin.dropRole(name),
  );
  expect(await firstOf('SHOW USERS')).toEqual(['root']);
});

/** A schema's name has no dot of its own: dots part its levels. */
const SCHEMAS = [...NAMES.map((name) => [name, name] as const), ['outer "level".inner', 'nested'] as const];

test.each(SCHEMAS)('objects of the schema %s that are called %s', async (schema, name) => {
  const catalog = `${TENANT}_${SCHEMAS.findIndex(([one]) => one === schema)}`;
  const place = { catalog, schema };
  const [outer = ''] = schema.split('.');
  const path = { ...place, name };
  const other = `${name.slice(0, 250)} 2`;
  await all(
    inspect.createCatalog(catalog),
    ...(outer === schema ? [] : [inspect.createSchema({ catalog, schema: outer }, '')]),
    inspect.createSchema(place, name),
    inspect.commentOnSchema(place, name),
    load.createTable(path, [
      { file: 'a', to: name, type: 'BIGINT' },
      { file: 'b', to: 'v', type: 'VARCHAR' },
    ]),
    { sql: `INSERT INTO ${inspect.objectPath(path)} VALUES (1, 'x')` },
    inspect.commentOn('TABLE', path, name),
    inspect.commentOnColumn(path, [name], name),
    inspect.addColumn(path, other, 'VARCHAR', name),
    inspect.renameColumn(path, [other], `${other} b`),
    inspect.dropColumn(path, [`${other} b`]),
    inspect.setProperty(path, `x.${name}`, name),
    inspect.unsetProperty(path, `x.${name}`),
  );
  expect(await run(inspect.firstRows(path))).toEqual([[1, 'x']]);
  expect((await run(inspect.columnStatistics(path, name)))[0]).toEqual([1, 0, 1, 1, 1]);
  const [snapshot] = await firstOf(
    `SELECT snapshot_id::VARCHAR FROM ${inspect.objectPath({ ...path, name: `${name}$snapshots` })}`,
  );
  await all(
    inspect.createRef('TAG', path, name, String(snapshot), '7'),
    inspect.createRef('BRANCH', path, other, String(snapshot), ''),
  );
  const refs = `SELECT name FROM ${inspect.objectPath({ ...path, name: `${name}$refs` })} ORDER BY ALL`;
  expect(await firstOf(refs)).toEqual(['main', name, other].toSorted());
  expect(await run({ sql: inspect.queryAsOf(path, String(snapshot)) })).toEqual([[1, 'x']]);
  await all(
    inspect.dropRef('TAG', path, name),
    inspect.dropRef('BRANCH', path, other),
    inspect.rollBack(path, String(snapshot)),
    inspect.maintain(path, 'remove_orphan_files', true),
    inspect.showCreate('TABLE', path),
    inspect.createView({ ...path, name: other }, `SELECT 1 AS ${quoteIdentifier(name)}`),
    inspect.commentOn('VIEW', { ...path, name: other }, name),
    inspect.renameRelation('VIEW', { ...path, name: other }, `${other} v`),
    inspect.dropRelation('VIEW', { ...path, name: `${other} v` }),
    inspect.createStage({ ...path, name: other }, name),
    inspect.listFiles({ ...path, name: other }),
    inspect.removeFile({ ...path, name: other }, `it's "x" 😀.csv`),
    inspect.renameStage({ ...path, name: other }, `${other} b`),
    inspect.dropStage({ ...path, name: `${other} b` }),
    {
      sql: `CREATE MATERIALIZED VIEW ${inspect.objectPath({ ...path, name: other })} AS SELECT count(*) AS n FROM ${inspect.objectPath(path)}`,
    },
    { sql: `INSERT INTO ${inspect.objectPath(path)} VALUES (2, 'y')` },
    inspect.explainRefresh({ ...path, name: other }),
    inspect.refresh({ ...path, name: other }),
  );
  expect(await run(inspect.firstRows({ ...path, name: other }))).toEqual([[2]]);
  await all(inspect.dropRelation('MATERIALIZED VIEW', { ...path, name: other }));
  await cluster.cliOk(['admin', 'catalog', 'alter', catalog, '--undrop-window', '1h']);
  await all(
    inspect.renameRelation('TABLE', path, `${other} t`),
    inspect.dropRelation('TABLE', { ...path, name: `${other} t` }),
    inspect.undropTable({ ...path, name: `${other} t` }, name),
  );
  expect(await run(inspect.firstRows(path))).toHaveLength(2);
  await cluster.cliOk(['admin', 'catalog', 'alter', catalog, '--undrop-window', '0s']);
  await all(inspect.dropRelation('TABLE', path));
  // A dot stands between levels.
  const renamed = { ...place, schema: `${schema} new` };
  await all(
    inspect.renameSchema(place, renamed.schema),
    inspect.renameCatalog(catalog, `${catalog}.new`),
    inspect.dropSchema({ ...renamed, catalog: `${catalog}.new` }),
    ...(outer === schema ? [] : [inspect.dropSchema({ catalog: `${catalog}.new`, schema: outer })]),
    inspect.dropCatalog(`${catalog}.new`),
  );
});

test.each(NAMES)('policies that are called %s', async (name) => {
  const catalog = `${TENANT}_p${NAMES.indexOf(name)}`;
  const place = { catalog, schema: 's', policy: name };
  const policy = admin.policyPath(place);
  const table = [catalog, 's', name].map(quoteIdentifier).join('.');
  const column = quoteIdentifier(name);
  await all(
    inspect.createCatalog(catalog),
    inspect.createSchema(place, ''),
    { sql: `CREATE TABLE ${table} AS SELECT 1 AS ${column}, 2 AS v` },
    admin.createPolicy('ROW ACCESS', {
      policy,
      args: 'v INTEGER',
      returns: '',
      body: `v > 0 AND ${quoteLiteral(name)} <> ''`,
    }),
    admin.setPolicyBody('ROW ACCESS', policy, 'v > 1'),
    admin.describePolicy('ROW ACCESS', policy),
    admin.bindPolicy('ROW ACCESS', policy, table, column),
  );
  expect(await run(admin.firstRows(table))).toEqual([]);
  expect(await run(admin.boundTables('ROW ACCESS', place))).toEqual([['s', name, null]]);
  await all(
    admin.unbindPolicy('ROW ACCESS', policy, table, ''),
    admin.dropPolicy('ROW ACCESS', policy),
    admin.createPolicy('MASKING', { policy, args: 'v INTEGER, w INTEGER', returns: 'INTEGER', body: 'v + 10 * w' }),
    admin.bindPolicy('MASKING', policy, table, `${column}, v`),
  );
  expect(await run(admin.firstRows(table))).toEqual([[21, 2]]);
  expect(await run(admin.boundTables('MASKING', place))).toEqual([['s', name, name]]);
  expect(await run(admin.policyReferences(catalog))).toHaveLength(1);
  expect((await run(admin.showPolicies('MASKING'))).map(([one]) => one)).toEqual([name]);
  await all(admin.unbindPolicy('MASKING', policy, table, column), admin.dropPolicy('MASKING', policy));
});

test('a file whose name has quotes, spaces and an emoji is looked at, validated, loaded and taken away', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'skein-forms-'));
  const file = `it's "x" 😀.csv`;
  await writeFile(join(folder, file), ['id;a "b"', '1;x', 'two;y', ''].join('\n'));
  const token = await cluster.token({ tenant: TENANT, user: 'root' });
  await cluster.cliOk(['put', join(folder, file), '@~/loads/', '--token', token]);
  await rm(folder, { recursive: true });
  const path = `loads/${file}`;
  const options = { ...load.optionsByName(file), delimiter: ';' };
  const catalog = `${TENANT}_load`;
  const table = { catalog, schema: 's', name: file };
  const columns = [
    { file: 'id', to: 'id', type: 'BIGINT' },
    { file: 'a "b"', to: 'a "b"', type: 'VARCHAR' },
  ];
  expect(await run(load.firstRowsOf(path, options))).toEqual([
    ['1', 'x'],
    ['two', 'y'],
  ]);
  const sample = await run(
    load.sampleTypes(
      path,
      options,
      columns.map(({ file: name }) => name),
    ),
  );
  expect(load.proposedTypes({ rows: [...sample] })).toEqual(['VARCHAR', 'VARCHAR']);
  await all(inspect.createCatalog(catalog), inspect.createSchema(table, ''), load.createTable(table, columns));
  expect(await run(load.copyInto(table, path, { options, columns }, { validates: true }))).toHaveLength(1);
  await all(load.copyInto(table, path, { options, columns }, { onError: 'CONTINUE' }), load.removeLoaded(path));
  expect(await run(inspect.firstRows(table))).toEqual([[1, 'x']]);
  expect(await run({ sql: 'LIST @~/loads/' })).toEqual([]);
});
