import { expect, test } from 'vitest';
import { openStorage } from '#shared/storage/open-storage.ts';
import { SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import type { OtherStore } from '#test/support/other-stores.ts';
import { statementRunner } from '#test/support/run-statements.ts';
import type { Outcome, Sent } from '../bucket/store-ways.ts';

/** The attacks of `test/bucket/attacks.test.ts`, for the other stores. */

export type Permission = 'read' | 'write';
type Config = Readonly<Record<string, string>>;
export type Attack = Sent & {
  readonly by?: Permission;
  /** Whether it did what it wanted; default: the store answered it. */
  readonly harm?: (outcome: Outcome) => Promise<boolean> | boolean;
};

const DATA = ['table:read', 'table:data'];

/** A catalog whose tables lie in a store. */
export class Lake implements AsyncDisposable {
  readonly store: OtherStore;
  readonly catalog: TestCatalog;
  readonly tokens: Record<Permission | 'others', string> = { read: '', write: '', others: '' };

  private constructor(store: OtherStore, catalog: TestCatalog) {
    this.store = store;
    this.catalog = catalog;
  }

  /** The tables `orders` and `orders2` of a catalog `cloud`, and a catalog of another tenant, each with one object. */
  static async start(store: OtherStore): Promise<Lake> {
    const lake = new Lake(store, await startTestCatalog());
    const { catalog, tokens } = lake;
    await catalog.call('CreateTenant', { name: 'rival', admin_user: 'eve', admin_password: 'a long enough password' });
    await lake.#add('cloud', 'default', 'lake');
    await lake.#add('theirs', 'rival', 'rival');
    await catalog.rest('POST', '/v1/cloud/namespaces', { body: { namespace: ['s'] } });
    for (const name of ['orders', 'orders2']) {
      expect((await lake.create(name, `lake/fixed/${name}`)).status).toBe(200);
      await lake.put(`lake/fixed/${name}/data/one`, name);
    }
    await lake.put('rival/s/t/data/one', 'rival');
    tokens.read = await catalog.mint({ scope: DATA });
    tokens.write = await catalog.mint({ scope: [...DATA, 'table:write'] });
    await statementRunner(catalog).createUser('other');
    tokens.others = await catalog.mint({ user: 'other', scope: [...DATA, 'table:write'] });
    return lake;
  }

  async #add(name: string, tenant: string, prefix: string): Promise<void> {
    const { bucket, root } = this.store;
    await this.catalog.call('CreateCatalog', { tenant, name, location: `${root}/${prefix}`, bucket });
  }

  /** Makes the catalog forget the keys that it knows. */
  async forgetKeys(): Promise<void> {
    const { settings } = this.store.bucket;
    const change = { name: 'cloud', allow_roots: [], disallow_roots: [], undrop_window_ms: -1, bucket: { settings } };
    await this.catalog.call('AlterCatalog', change);
  }

  create(
    name: string,
    place?: string,
    {
      token = this.catalog.token,
      ...more
    }: { token?: string; 'stage-create'?: boolean; properties?: Readonly<Record<string, string>> } = {},
  ) {
    const location =
      place === undefined ? {} : { location: place.includes(':') ? place : `${this.store.root}/${place}` };
    return this.catalog.rest('POST', '/v1/cloud/namespaces/s/tables', {
      body: { name, schema: SCHEMA, ...location, ...more },
      token,
    });
  }

  drop(name: string): Promise<RestAnswer> {
    return this.catalog.rest('DELETE', `/v1/cloud/namespaces/s/tables/${name}`);
  }

  post(path: string, body: object): Promise<RestAnswer> {
    return this.catalog.rest('POST', path, { body });
  }

  async config(table: string, token: string): Promise<Config> {
    const { body } = await this.catalog.rest('GET', `/v1/cloud/namespaces/s/tables/${table}/credentials`, { token });
    const [credential] = (body['storage-credentials'] ?? []) as unknown as readonly { readonly config: Config }[];
    return credential?.config ?? {};
  }

  put(key: string, text: string): Promise<unknown> {
    const { root, credential } = this.store;
    return openStorage(root, credential).write(`${root}/${key}`, Buffer.from(text));
  }

  /** The text of an object; '' when there is none. */
  async textAt(key: string): Promise<string> {
    const { root, credential } = this.store;
    const storage = openStorage(root, credential);
    if (!(await storage.exists(`${root}/${key}`))) return '';
    return Buffer.from(await storage.read(`${root}/${key}`, 1_000)).toString();
  }

  async remove(key: string): Promise<void> {
    const { root, credential } = this.store;
    await openStorage(root, credential).remove([`${root}/${key}`]);
  }

  /** Whether an object is gone, which is then made again. */
  async isGone(name: 'orders' | 'orders2'): Promise<boolean> {
    const key = `lake/fixed/${name}/data/one`;
    if ((await this.textAt(key)) !== '') return false;
    await this.put(key, name);
    return true;
  }

  /** Whether there is an object, which is then deleted. */
  async isMade(key: string, text?: string): Promise<boolean> {
    const found = await this.textAt(key);
    await this.remove(key);
    return text === undefined ? found !== '' : found === text;
  }

  /** The names of the attacks that did what they wanted. */
  async succeeding(
    attacks: Readonly<Record<string, Attack>>,
    send: (sent: Sent, by: Permission) => Promise<Outcome>,
  ): Promise<readonly string[]> {
    const succeeded: string[] = [];
    for (const [name, { by = 'read', harm, ...sent }] of Object.entries(attacks)) {
      const outcome = await send(sent, by);
      if (await (harm ?? (({ status }: Outcome) => status < 300))(outcome)) succeeded.push(name);
    }
    return succeeded;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.catalog[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

export const OWN = 'lake/fixed/orders';
export const BESIDE = 'lake/fixed/orders2';

/** The catalog gives nobody a place that is another's, also while keys to it are out. */
export function placesStayTheirs(
  of: () => Lake,
  { ofOthers, spellings }: { readonly ofOthers: string; readonly spellings: readonly string[] },
): void {
  const TABLES = '/v1/cloud/namespaces/s/tables';

  test('the folder of a dropped table is nobody’s until the last key for it has ended', async () => {
    const lake = of();
    const { others } = lake.tokens;
    const place = 'lake/fixed/former';
    const made = await lake.create('former', place);
    const document = made.body['metadata-location'] as string;
    expect(await lake.config('former', lake.tokens.write)).not.toEqual({});
    expect((await lake.drop('former')).status).toBe(204);
    const refused = await lake.create('next', `${place}/below`, { token: others });
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringContaining('keys to its files end'),
    ]);
    expect((await lake.create('next', place, { token: others, 'stage-create': true })).status).toBe(400);
    // It is the same table.
    const body = { name: 'again', 'metadata-location': document };
    expect((await lake.post('/v1/cloud/namespaces/s/register', body)).status).toBe(200);
    await lake.drop('again');
    // The clock of the store's keys is not ours to turn.
    await lake.catalog.sql(
      `UPDATE catalog.folder_claim SET keys_until = now() - interval '1 second' WHERE location LIKE '%/${place}'`,
    );
    expect((await lake.create('next', place, { token: others })).status).toBe(200);
  });

  test('no commit moves a table to a foreign, enclosing or enclosed place', async () => {
    const lake = of();
    const { root } = lake.store;
    const places = [
      ...[BESIDE, 'lake/fixed', `${BESIDE}/data`, 'rival/s/t', `${OWN}/../orders2`, 'lake', 'lake/.stages/x'].map(
        (key) => `${root}/${key}`,
      ),
      ofOthers,
      ...spellings,
    ];
    for (const place of places) {
      const commit = (update: object): Promise<RestAnswer> =>
        lake.post(`${TABLES}/orders`, { requirements: [], updates: [update] });
      expect((await commit({ action: 'set-location', location: place })).status, place).toBe(400);
      for (const name of ['write.data.path', 'write.metadata.path', 'write.object-storage.path']) {
        const updates = { [name]: place };
        expect((await commit({ action: 'set-properties', updates })).status, `${name} ${place}`).toBe(400);
      }
      expect((await lake.create('intruder', place)).status, place).toBe(400);
    }
  });

  test('foreign metadata is not registered', async () => {
    const lake = of();
    const { root } = lake.store;
    const loaded = await lake.catalog.rest('GET', `${TABLES}/orders2`);
    const sibling = loaded.body['metadata-location'] as string;
    const register = async (file: string): Promise<number> =>
      (await lake.post('/v1/cloud/namespaces/s/register', { name: 'registered', 'metadata-location': file })).status;
    const storage = openStorage(root, lake.store.credential);
    const text = Buffer.from(await storage.read(sibling, 1e6)).toString();
    const [inside, foreign] = [`${OWN}/metadata/x.metadata.json`, 'rival/s/t/metadata/x.metadata.json'];
    await lake.put(inside, text.replaceAll(`${root}/${BESIDE}`, `${root}/rival/s/t`));
    await lake.put(foreign, text);
    for (const file of [sibling, `${root}/${inside}`, `${root}/${foreign}`])
      expect(await register(file), file).toBe(400);
  });
}
