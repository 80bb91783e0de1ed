import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import { Client as PgClient } from 'pg';
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest';
import { beginEnding, endTerm } from '#coordinator/history/ending-terms.ts';
import { migrateHistory, openHistoryDatabase, type HistoryDatabase } from '#coordinator/history/history-database.ts';
import { LeadLease } from '#coordinator/history/lead-lease.ts';
import { UnloadIntents } from '#coordinator/unload/unload-intents.ts';
import { silentLogger } from '#shared/log/logger.ts';
import { newUuidV7 } from '#shared/uuid-v7.ts';
import { NS, SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';

/**
 * A coordinator that has lost the lead and does not know it yet, as after its process stood still: whatever it asks for, nothing is changed.
 * Two leases on one database, and the catalog on the same.
 */

let catalog: TestCatalog;
let db: Kysely<HistoryDatabase>;
let one: LeadLease;
let other: LeadLease;

beforeAll(async () => {
  catalog = await startTestCatalog();
  db = openHistoryDatabase({ url: catalog.databaseUrl, poolMax: 4, log: silentLogger });
  await migrateHistory(db);
});
afterAll(async () => {
  await db?.destroy();
  await catalog?.[Symbol.asyncDispose]();
});

beforeEach(async () => {
  const lease = (id: string): LeadLease =>
    new LeadLease({ url: catalog.databaseUrl, candidate: { id, url: `http://${id}` }, ttlMs: 60_000 });
  one = lease('one');
  other = lease('other');
  await one.take(true);
  return async () => {
    await other.release();
    await one.release();
  };
});

const asked = (): object => ({ principal: catalog.principal(), key: newUuidV7(Date.now()) });

/** Calls of a coordinator's statements, each of which makes a change of its own. */
const CHANGES: readonly (readonly [string, (term: number) => Promise<unknown>])[] = [
  [
    'CREATE SCHEMA',
    (term) => {
      const body = Buffer.from(JSON.stringify({ namespace: [`s_${randomUUID().slice(0, 8)}`] }));
      return catalog.call('RunOperation', {
        ...asked(),
        operation: 'createNamespace',
        params: { prefix: 'lake' },
        body,
        term,
      });
    },
  ],
  [
    'a commit',
    (term) => {
      const identifier = { catalog: 'lake', namespace: ['default'], name: `t_${randomUUID().slice(0, 8)}` };
      const updates = [
        { action: 'add-schema', schema: SCHEMA },
        { action: 'set-current-schema', 'schema-id': -1 },
      ];
      const change = { identifier, requirements: [{ type: 'assert-create' }], updates };
      return catalog.call('CommitTables', {
        ...asked(),
        transaction: Buffer.from(JSON.stringify({ 'table-changes': [change] })),
        term,
      });
    },
  ],
  [
    'CREATE ROLE',
    (term) => {
      const request = { kind: 'create_role', name: `r_${randomUUID().slice(0, 8)}`, ifNotExists: false };
      return catalog.call('RunPrincipalStatement', {
        principal: catalog.principal(),
        statement: Buffer.from(JSON.stringify(request)),
        term,
      });
    },
  ],
];

/** Counts of all that the calls make. */
async function contents(): Promise<string> {
  const [row] = (await catalog.sql(`
    select (select count(*) from catalog.namespace) as schemas, (select count(*) from catalog.iceberg_table) as tables,
      (select count(*) from catalog.role) as roles`)) as readonly [Record<string, string>];
  return JSON.stringify(row);
}

test.each(CHANGES)('%s happens in a term that goes on, and not in one that is over', async (_name, change) => {
  const before = await contents();
  await change(one.epoch);
  const after = await contents();
  expect(after).not.toBe(before);
  await other.take(true);
  await expect(change(one.epoch)).rejects.toMatchObject({ code: 'NOT_ACTIVE' });
  expect(await contents()).toBe(after);
  // Its statements go on after it has handed over the lead.
  await beginEnding(db, one.epoch, 60_000);
  await change(one.epoch);
  await endTerm(db, one.epoch);
  await expect(change(one.epoch)).rejects.toMatchObject({ code: 'NOT_ACTIVE' });
  await change(other.epoch);
  // `skein load` and clients of the REST API belong to no term.
  await change(0);
});

test('skein load commits beside a term that is over: of changes on one version of a table one happens, once', async () => {
  const identifier = { catalog: 'lake', namespace: ['default'], name: `t_${randomUUID().slice(0, 8)}` };
  const commit = (term: number, requirement: object, updates: readonly object[]): Promise<unknown> => {
    const change = { identifier, requirements: [requirement], updates };
    const transaction = Buffer.from(JSON.stringify({ 'table-changes': [change] }));
    return catalog.call('CommitTables', { ...asked(), transaction, term });
  };
  const use = { action: 'set-current-schema', 'schema-id': -1 };
  await commit(one.epoch, { type: 'assert-create' }, [{ action: 'add-schema', schema: SCHEMA }, use]);
  /** Adds a column to the version with this number. */
  const add = (term: number, version: number, name: string): Promise<unknown> => {
    const column = { id: 100 + version, name, required: false, type: 'long' };
    const schema = { ...SCHEMA, fields: [...SCHEMA.fields, column] };
    const requirement = { type: 'assert-current-schema-id', 'current-schema-id': version };
    return commit(term, requirement, [{ action: 'add-schema', schema }, use]);
  };
  await other.take(true);
  // The coordinator has prepared its change on version 0, and so has the load.
  await expect(add(one.epoch, 0, 'fenced')).rejects.toMatchObject({ code: 'NOT_ACTIVE' });
  await add(0, 0, 'loaded');
  await expect(add(one.epoch, 0, 'fenced')).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
  await expect(add(one.epoch, 1, 'fenced')).rejects.toMatchObject({ code: 'NOT_ACTIVE' });
  await expect(add(other.epoch, 0, 'late')).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
  await add(other.epoch, 1, 'led');
  await expect(add(0, 1, 'late')).rejects.toMatchObject({ code: 'COMMIT_CONFLICT' });
  const { body } = await catalog.rest('GET', `/v1/lake/namespaces/default/tables/${identifier.name}`);
  const { schemas } = body['metadata'] as { schemas: readonly { fields: readonly { name: string }[] }[] };
  expect(schemas.map(({ fields }) => fields.at(-1)?.name)).toEqual([SCHEMA.fields.at(-1)?.name, 'loaded', 'led']);
});

test('an unload begins and is decided only in a term that goes on', async () => {
  const unload = (epoch: number) => {
    const intents = new UnloadIntents(db, epoch);
    const uploadId = randomUUID();
    return {
      begin: () => intents.add({ uploadId, recordId: randomUUID(), stage: 'file:/stage' }),
      decide: () => intents.decide(uploadId, [{ file: 'a', path: 'a' }]),
    };
  };
  const [first, second, third] = [unload(one.epoch), unload(one.epoch), unload(one.epoch)];
  await first.begin();
  await first.decide();
  await second.begin();
  await other.take(true);
  // Before the next coordinator has taken it over.
  await expect(second.decide()).rejects.toMatchObject({ code: 'NOT_ACTIVE' });
  await expect(third.begin()).rejects.toMatchObject({ code: 'NOT_ACTIVE' });
  await beginEnding(db, one.epoch, 60_000);
  await second.decide();
  await endTerm(db, one.epoch);
});

test('the lead is taken after the commits that are on their way, and renewed beside them', async () => {
  const commits = new PgClient({ connectionString: catalog.databaseUrl });
  await commits.connect();
  await commits.query('begin');
  // As `catalog/store/postgres/coordinator-term.ts` does.
  await commits.query('select from coordinator.lead where epoch = $1 for key share', [one.epoch]);
  expect(await one.renew()).toBe(true);
  let isTaken = false;
  const taken = other.take(true).then((took) => (isTaken = took));
  await new Promise((resolve) => setTimeout(resolve, 300));
  expect(isTaken).toBe(false);
  await commits.query('commit');
  expect(await taken).toBe(true);
  await commits.end();
});

test('a database without terms, as when coordinators have another one, checks none', async () => {
  await using alone = await startTestCatalog();
  const body = Buffer.from(JSON.stringify({ namespace: ['made'] }));
  const request = { principal: alone.principal(), key: newUuidV7(Date.now()), operation: 'createNamespace' };
  await alone.call('RunOperation', { ...request, params: { prefix: 'lake' }, body, term: 7 });
  expect((await alone.rest('GET', `${NS}/made`)).status).toBe(200);
});
