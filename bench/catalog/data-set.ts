import { existsSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { CatalogClients } from './catalog-clients.ts';

/** 10,000 tables over 100 namespaces, and 10,000 in one. */
export const NAMESPACES = 100;
export const TABLES_PER_NAMESPACE = 100;
export const BIG_TABLES = 10_000;
const CREATING_CLIENTS = 16;
const COLUMNS = 20;

export const namespacePath = (namespace: string): string => `/v1/lake/namespaces/${namespace}`;
export const tablePath = (namespace: string, table: string): string => `${namespacePath(namespace)}/tables/${table}`;
export const BIG = 'big';
/** The n-th of the 10,000. */
export const tableOf = (n: number): string =>
  tablePath(`ns${Math.floor(n / TABLES_PER_NAMESPACE)}`, `t${n % TABLES_PER_NAMESPACE}`);

/** A table as people have them: twenty columns, partitioned by day. */
export const TABLE = {
  schema: {
    type: 'struct',
    fields: Array.from({ length: COLUMNS }, (_, i) => ({
      id: i + 1,
      name: i === 0 ? 'id' : i === 1 ? 'happened_at' : `column_${i}`,
      required: i === 0,
      type: i === 0 ? 'long' : i === 1 ? 'timestamptz' : i % 3 === 0 ? 'decimal(18,4)' : 'string',
    })),
  },
  'partition-spec': { fields: [{ 'source-id': 2, name: 'day', transform: 'day' }] },
};

/** Makes the tables that the measurements read, once per data directory. Answers the tables made per second, or undefined. */
export async function makeDataSet(clients: CatalogClients, dataDir: string): Promise<number | undefined> {
  const done = join(dataDir, 'data-set.done');
  if (existsSync(done)) return undefined;
  for (const name of [BIG, ...Array.from({ length: NAMESPACES }, (_, i) => `ns${i}`)]) {
    await clients.request(0, 'POST', '/v1/lake/namespaces', { namespace: [name] }, { expected: [200, 409] });
  }
  const names = [
    ...Array.from({ length: NAMESPACES * TABLES_PER_NAMESPACE }, (_, n) => tableOf(n)),
    ...Array.from({ length: BIG_TABLES }, (_, n) => tablePath(BIG, `table_${n}`)),
  ];
  const total = names.length;
  const started = performance.now();
  const create = async (client: number): Promise<void> => {
    for (let path = names.pop(); path !== undefined; path = names.pop()) {
      const [tables, name] = [path.slice(0, path.lastIndexOf('/')), path.slice(path.lastIndexOf('/') + 1)];
      await clients.request(client, 'POST', tables, { name, ...TABLE }, { expected: [200, 409] });
    }
  };
  await Promise.all(Array.from({ length: CREATING_CLIENTS }, (_, client) => create(client)));
  const perSecond = (total * 1_000) / (performance.now() - started);
  await writeFile(done, '');
  return perSecond;
}
