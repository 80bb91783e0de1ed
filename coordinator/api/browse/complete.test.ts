import { describe, expect, it, test } from 'vitest';
import { parseFields } from '#shared/iceberg/type.ts';
import type { CatalogClient } from '../../catalog-client/catalog-client.ts';
import type { Relation } from '../../catalog-client/relation.ts';
import { callerOf } from '#test/support/api-fixtures.ts';
import { complete } from './complete.ts';
import { keyOf, Objects } from './objects.ts';
import { cursorPlace } from './statement-context.ts';
import { machineSlowness } from '#test/support/run/machine-speed.ts';

const relation = (schema: string, name: string, columns: readonly string[]): Relation => ({
  id: name,
  oid: 16_384,
  namespaceOid: 16_392,
  namespace: schema.split('.'),
  schema,
  name,
  kind: 'TABLE',
  owner: null,
  created: null,
  changedAtMs: null,
  comment: null,
  rows: null,
  bytes: null,
  policies: [],
  columns: () => ({
    fields: parseFields(columns.map((name, i) => ({ id: i + 1, name, required: false, type: 'int' }))),
    keys: new Set(),
    intervals: new Set(),
  }),
  mentions: (folded) => columns.some((name) => name.toLowerCase().includes(folded)),
  columnBytes: 0,
});
const RELATIONS = [
  relation('default', 'orders', ['order_id', 'customer']),
  relation('default', 'Order Lines', ['line']),
  relation('sales', 'invoices', ['total']),
];
const objects = new Objects({
  findCatalogs: () => Promise.resolve(['lake', 'other']),
  listCatalog: (_principal: unknown, catalog: string) =>
    Promise.resolve(
      catalog === 'lake'
        ? { blocks: [RELATIONS], schemas: ['default', 'sales'].map((level) => ({ levels: [level], owner: null })) }
        : { blocks: [[relation('far', 'away', ['distance'])]], schemas: [{ levels: ['far'], owner: null }] },
    ),
} as unknown as CatalogClient);
const allowed = { allowed: true } as const;
const caller = callerOf(
  't',
  'p',
  new Map([
    ['table.list', allowed],
    ['schema.list', allowed],
  ]),
);

/** The proposals at the place of `|`. */
async function at(text: string): Promise<readonly string[]> {
  const position = text.indexOf('|');
  const { signal } = new AbortController();
  const current = { catalog: 'lake', schema: ['default'] };
  const { proposals } = await complete(objects, caller, { sql: text.replace('|', ''), position, current, signal });
  return proposals.map(({ label }) => label);
}

describe('proposals', () => {
  it.each([
    ['SELECT * FROM ord|', ['Order Lines', 'orders']],
    ['SELECT * FROM sales.|', ['invoices']],
    ['SELECT * FROM other.|', ['far']],
    ['SELECT * FROM other.far.|', ['away']],
    ['SELECT o.| FROM orders o', ['order_id', 'customer']],
    ['SELECT "Order Lines".| FROM "Order Lines"', ['line']],
    ['SELECT i.| FROM sales.invoices AS i JOIN orders o ON true', ['total']],
    ["SELECT 'FROM |'", []],
    ['SELECT "never closed |', []],
    ['SELECT 1; SELECT away.| FROM other.far.away', ['distance']],
    ['SELECT x.| FROM orders o', []],
  ])('%s', async (text, labels) => {
    expect(await at(text)).toEqual(labels);
  });

  it('has columns of the named tables first, then functions and words', async () => {
    const found = await at('SELECT cu| FROM orders');
    expect(found.slice(0, 3)).toEqual(['customer', 'cume_dist', 'current_date']);
    expect(await at('SELECT * FROM orders, | WHERE true')).toContain('orders');
  });

  it('of who may list nothing are words alone', async () => {
    const { signal } = new AbortController();
    const asked = { sql: 'SELECT * FROM ', position: 14, current: { catalog: 'lake', schema: ['default'] }, signal };
    const { proposals } = await complete(objects, callerOf('t'), asked);
    expect(proposals.map(({ kind }) => kind)).toEqual(['catalog', 'catalog']);
  });
});

test.each(['(a, ', 'a,', 'a b,', 'FROM a,'])('a long text of %j has its place at once', (part) => {
  const text = `SELECT ${part.repeat(30_000)} x FROM `;
  const began = performance.now();
  expect(cursorPlace(text, text.length)).toMatchObject({ wantsRelation: true });
  expect(performance.now() - began).toBeLessThan(2_000 * machineSlowness());
});

test.each([
  ['a name of many parts', `SELECT * FROM ${'a.'.repeat(30_000)}`],
  [
    'many long names',
    `SELECT * FROM ${Array.from({ length: 100 }, (_, i) => `t${i}${'a'.repeat(2_000)}`).join(', ')} WHERE `,
  ],
])('%s is looked for at once in a long list', async (_, sql) => {
  const many = Array.from({ length: 10_000 }, (_one, i) => relation('default', `t${i}`, ['c']));
  const lists = new Objects({
    findCatalogs: () => Promise.resolve(['lake']),
    listCatalog: () => Promise.resolve({ blocks: [many], schemas: [] }),
  } as unknown as CatalogClient);
  const { signal } = new AbortController();
  const current = { catalog: 'lake', schema: ['default'] };
  const began = performance.now();
  await complete(lists, caller, { sql, position: sql.length, current, signal });
  expect(performance.now() - began).toBeLessThan(2_000 * machineSlowness());
});

test('pages of objects are by name, and lead to the next', async () => {
  const { signal } = new AbortController();
  const first = await objects.list(caller, { catalog: 'lake', schema: 'default', limit: 1 }, signal);
  expect([first.objects.map(({ name }) => name), first.more]).toEqual([['Order Lines'], true]);
  const after = first.objects.map(keyOf)[0] ?? '';
  const rest = await objects.list(caller, { catalog: 'lake', schema: 'default', after, limit: 1 }, signal);
  expect([rest.objects.map(({ name }) => name), rest.more]).toEqual([['orders'], false]);
  const columns = await objects.list(
    caller,
    { catalog: 'lake', schema: 'default', relation: 'ORDERS', limit: 9 },
    signal,
  );
  expect(columns.objects.map(({ name, type }) => [name, type])).toEqual([
    ['order_id', 'INT'],
    ['customer', 'INT'],
  ]);
  const found = await objects.list(caller, { catalog: 'lake', search: 'INV', limit: 9 }, signal);
  expect(found.objects.map(({ name, schema }) => [schema, name])).toEqual([['sales', 'invoices']]);
});
