import { SkeinError } from '#shared/error.ts';
import { isObject } from '#shared/iceberg/type.ts';
import { parseJson, type Json, type JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import type { CatalogClient, CatalogOperation } from '../catalog-client/catalog-client.ts';
import { relationOfTable, type Relation } from '../catalog-client/relation.ts';
import type { TableChange, TransactionTables } from './transaction-tables.ts';

/**
 * The catalog as the statements of a transaction see it: they read its tables, and what they commit stays in it. So a statement needs not
 * to know whether it runs in a transaction.
 */
export const transactionCatalog = (
  client: CatalogClient,
  tables: TransactionTables,
  mayWrite: () => boolean,
): CatalogClient => ({
  ...client,
  get cacheBytes() {
    return client.cacheBytes;
  },
  tablesFor: (principal) => ({ loadTables: (names, signal) => tables.load(principal, names, signal) }),
  async *listTables(principal, catalog, namespace, withViews) {
    yield* client.listTables(principal, catalog, namespace, withViews);
    yield tables.createdIn(catalog, namespace);
  },
  async listCatalog(principal, catalog, signal, places) {
    const list = await client.listCatalog(principal, catalog, signal, places);
    const own = tables.changed.flatMap(({ now }) => (now.name.catalog === catalog ? [relationOfTable(now)] : []));
    if (own.length === 0) return list;
    const keyOf = ({ namespace, name }: Relation): string => JSON.stringify([namespace, name]);
    const changed = new Set(own.map(keyOf));
    const blocks = list.blocks.map((block) => {
      return block.some((one) => changed.has(keyOf(one))) ? block.filter((one) => !changed.has(keyOf(one))) : block;
    });
    // Policies are no part of a transaction; they hide how many rows there are, of its own changes, too.
    const before = new Map(list.blocks.flat().map((one) => [keyOf(one), one]));
    const isNew = own.some((one) => !before.has(keyOf(one)));
    const { schemas } =
      isNew && list.schemas.length === 0
        ? await client.listCatalog(principal, catalog, signal, { schemasAlone: true })
        : list;
    const shown = own.map((one): Relation => {
      const known = before.get(keyOf(one));
      if (known === undefined) {
        const key = JSON.stringify(one.namespace);
        const namespaceOid = schemas.find(({ levels }) => JSON.stringify(levels) === key)?.oid ?? 0;
        return { ...one, oid: one.oid === 0 ? ownNumber(one.id) : one.oid, namespaceOid };
      }
      const { policies, rows, oid, namespaceOid } = known;
      const figures = policies.length > 0 && rows === null ? { rows: null, bytes: null } : {};
      return { ...one, oid, namespaceOid, policies, ...figures };
    });
    return { ...list, blocks: [...blocks, shown] };
  },
  async commitTables(principal, _key, transaction) {
    if (!mayWrite()) throw readOnly();
    for (const change of changesOf(parseJson(Buffer.from(transaction).toString())))
      await tables.change(principal, change);
  },
  // Nothing of it was committed.
  abandonCommit: () => Promise.resolve('NOT_COMMITTED'),
  async runOperation(principal, key, operation) {
    if (operation.id !== 'createTable') {
      throw new SkeinError('IN_TRANSACTION', 'the statement cannot run inside a transaction');
    }
    if (!mayWrite()) throw readOnly();
    const { body = {} } = operation;
    if (body['stage-create'] === true) return client.runOperation(principal, key, operation);
    const staged = { ...operation, body: { ...body, 'stage-create': true } };
    const answer = await client.runOperation(principal, key, staged);
    await tables.change(principal, creation(operation, answer));
    return answer;
  },
});

/** Numbers of tables that no other transaction sees: the catalog gives no number that is so high before 400 million of them. */
const OWN_NUMBERS = 3 * 2 ** 30;
const OWN_NUMBERS_COUNT = 2 ** 27 - 2;

/** The number of a table that the transaction has created, until the catalog gives it one: the same for as long as the transaction lasts. */
const ownNumber = (uuid: string): number =>
  OWN_NUMBERS + 8 * (Number.parseInt(uuid.replaceAll('-', '').slice(-12), 16) % OWN_NUMBERS_COUNT);

export const readOnly = (): SkeinError =>
  new SkeinError('READ_ONLY_TRANSACTION', 'the transaction is READ ONLY: it changes nothing');

const changesOf = (transaction: Json): readonly TableChange[] =>
  must(
    isObject(transaction) ? transaction['table-changes'] : undefined,
    'a transaction has changes',
  ) as unknown as readonly TableChange[];

/** The change that ends the creation of a table that the catalog has staged. */
function creation({ params, body = {} }: CatalogOperation, answer: Json): TableChange {
  const metadata = isObject(answer) ? answer['metadata'] : undefined;
  if (!isObject(metadata)) throw new SkeinError('CATALOG_UNAVAILABLE', 'the catalog answered without table metadata');
  const of = (member: string): Json => must(metadata[member], 'a table has it');
  const only = (list: string): JsonObject => must((of(list) as readonly JsonObject[])[0], 'a new table has one');
  return {
    identifier: {
      catalog: must(params['prefix'], 'the operation names the catalog'),
      namespace: must(params['namespace'], 'the operation names the namespace').split('\u001F'),
      name: body['name'] as string,
    },
    requirements: [{ type: 'assert-create' }],
    updates: [
      { action: 'assign-uuid', uuid: of('table-uuid') },
      { action: 'upgrade-format-version', 'format-version': of('format-version') },
      { action: 'add-schema', schema: only('schemas') },
      { action: 'set-current-schema', 'schema-id': -1 },
      { action: 'add-spec', spec: only('partition-specs') },
      { action: 'set-default-spec', 'spec-id': -1 },
      { action: 'add-sort-order', 'sort-order': only('sort-orders') },
      { action: 'set-default-sort-order', 'sort-order-id': -1 },
      { action: 'set-location', location: of('location') },
      { action: 'set-properties', updates: of('properties') },
    ],
  };
}
