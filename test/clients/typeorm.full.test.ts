import { createRequire } from 'node:module';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { must } from '#shared/must.ts';
import { ADMIN_PASSWORD } from '#test/support/cluster.ts';
import { NPM_INSTALL_MS, npmFolder } from '#test/support/npm-folder.ts';
import { sharedCluster } from '#test/support/resources.ts';

/** TypeORM over the Postgres wire: its tables, its repository and what it reads of the catalog. */

type Person = { id: string; name: string; born: number | null };
type Column = {
  readonly name: string;
  readonly type: string;
  readonly isPrimary: boolean;
  readonly isNullable: boolean;
};

interface Repository {
  save(people: readonly Person[]): Promise<unknown>;
  find(options: object): Promise<readonly Person[]>;
  update(where: object, values: object): Promise<unknown>;
  delete(where: object): Promise<unknown>;
  count(): Promise<number>;
}
interface Source {
  initialize(): Promise<Source>;
  synchronize(): Promise<void>;
  destroy(): Promise<void>;
  getRepository(entity: object): Repository;
  transaction(work: (manager: { getRepository(entity: object): Repository }) => Promise<void>): Promise<void>;
  createQueryRunner(): {
    getTable(path: string): Promise<{ readonly columns: readonly Column[] } | undefined>;
    release(): Promise<void>;
  };
}
type TypeOrm = {
  readonly DataSource: new (options: object) => Source;
  readonly EntitySchema: new (options: object) => object;
};

let source: Source;
let people: object;

beforeAll(async () => {
  const modules = await npmFolder('typeorm', ['typeorm@1.1.1', 'pg@8.16.3']);
  const { DataSource, EntitySchema } = createRequire(join(modules, 'test.js'))('typeorm') as TypeOrm;
  const { cluster } = await sharedCluster();
  const made = await cluster.query('CREATE SCHEMA lake.orm');
  expect(made.status).toBe(200);
  people = new EntitySchema({
    name: 'person',
    tableName: 'people',
    schema: 'orm',
    columns: {
      id: { type: 'bigint', primary: true },
      name: { type: 'text' },
      born: { type: 'integer', nullable: true },
    },
  });
  const url = new URL(must(cluster.ready.postgres_url, 'it serves the Postgres wire'));
  source = await new DataSource({
    type: 'postgres',
    host: url.hostname,
    port: Number(url.port),
    username: cluster.ready.user,
    password: ADMIN_PASSWORD,
    database: 'lake',
    installExtensions: false,
    entities: [people],
  }).initialize();
}, NPM_INSTALL_MS);

afterAll(() => source.destroy());

test('makes its tables, once', async () => {
  await source.synchronize();
  await source.synchronize();
});

test('its repository writes, reads, changes and removes rows, in a transaction, too', async () => {
  const repository = source.getRepository(people);
  await repository.save([
    { id: '1', name: 'Ada', born: 1815 },
    { id: '2', name: "O'Hara", born: null },
  ]);
  await source.transaction(async (manager) => {
    await manager.getRepository(people).save([{ id: '3', name: 'Grace', born: 1906 }]);
    await manager.getRepository(people).update({ id: '1' }, { name: 'Ada Lovelace' });
  });
  expect(await repository.find({ order: { id: 'DESC' } })).toEqual([
    { id: '3', name: 'Grace', born: 1906 },
    { id: '2', name: "O'Hara", born: null },
    { id: '1', name: 'Ada Lovelace', born: 1815 },
  ]);
  await repository.delete({ id: '2' });
  expect(await repository.find({ where: { name: 'Grace' } })).toHaveLength(1);
  expect(await repository.count()).toBe(2);
});

test('reads the columns of a table from the catalog', async () => {
  const runner = source.createQueryRunner();
  const table = must(await runner.getTable('orm.people'), 'the table is there');
  await runner.release();
  const columns = table.columns.map(({ name, type, isPrimary, isNullable }) => [name, type, isPrimary, isNullable]);
  expect(columns).toEqual([
    ['id', 'bigint', true, false],
    ['name', 'text', false, false],
    ['born', 'integer', false, true],
  ]);
});
