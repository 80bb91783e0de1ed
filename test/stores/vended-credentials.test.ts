import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '#shared/json.ts';
import { makeSas } from '#shared/storage/adls/sas.ts';
import type { AdlsCredential, GcsCredential, StoreCredential } from '#shared/storage/credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { PolicyRequest } from '#shared/policy/policy-request.ts';
import { must } from '#shared/must.ts';
import { AZURITE_ACCOUNT, AZURITE_KEY } from '#test/support/azurite.ts';
import { locationOf, SCHEMA } from '#test/support/catalog-requests.ts';
import { startTestCatalog, type RestAnswer, type TestCatalog } from '#test/support/catalog.ts';
import { OTHER_STORE_MS, OTHER_STORES, type OtherStore } from '#test/support/other-stores.ts';
import { packagesBeside, python, pythonIn } from '#test/support/python.ts';

const VENDED: Readonly<Record<string, string>> = { 'X-Iceberg-Access-Delegation': 'vended-credentials' };
type Config = Readonly<Record<string, string>>;
type Credential = { readonly prefix: string; readonly config: Config };

/** A catalog `cloud` in a store, with the namespace `s`. */
class Cloud implements AsyncDisposable {
  readonly store: OtherStore;
  readonly catalog: TestCatalog;
  readToken = '';

  private constructor(store: OtherStore, catalog: TestCatalog) {
    this.store = store;
    this.catalog = catalog;
  }

  static async start(kind: keyof typeof OTHER_STORES): Promise<Cloud> {
    const store = await OTHER_STORES[kind]();
    const cloud = new Cloud(store, await startTestCatalog());
    await cloud.add('cloud');
    cloud.readToken = await cloud.catalog.mint({ scope: ['table:read', 'table:data'] });
    return cloud;
  }

  async add(name: string, settings: Config = {}): Promise<void> {
    const { bucket, root } = this.store;
    const location = `${root}/${name}`;
    const changed = { ...bucket, settings: { ...bucket.settings, ...settings } };
    await this.catalog.call('CreateCatalog', { tenant: 'default', name, location, bucket: changed });
    await this.catalog.rest('POST', `/v1/${name}/namespaces`, { body: { namespace: ['s'] } });
  }

  create(name: string, { catalog = 'cloud', ...more }: { catalog?: string; location?: string } = {}) {
    return this.catalog.rest('POST', `/v1/${catalog}/namespaces/s/tables`, { body: { name, schema: SCHEMA, ...more } });
  }

  load(name: string, { catalog = 'cloud', token = this.catalog.token, headers = VENDED } = {}) {
    return this.catalog.rest('GET', `/v1/${catalog}/namespaces/s/tables/${name}`, { headers, token });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.catalog[Symbol.asyncDispose]();
    await this.store[Symbol.asyncDispose]();
  }
}

type TableName = { readonly catalog: string; readonly namespace: readonly string[]; readonly table: string };

const policyCall = async (catalog: TestCatalog, statement: PolicyRequest): Promise<JsonObject> => {
  const { answer } = await catalog.call<{ answer: Uint8Array }>('RunPolicyStatement', {
    principal: catalog.principal(),
    statement: Buffer.from(JSON.stringify(statement)),
  });
  return (answer.length === 0 ? {} : JSON.parse(Buffer.from(answer).toString())) as JsonObject;
};

const policyOf = ({ catalog, namespace }: TableName) => ({ catalog, namespace: [...namespace], name: 'hidden' });

/** Binds a policy by which nobody sees a row. */
async function bindPolicy(catalog: TestCatalog, table: TableName): Promise<void> {
  const policy = policyOf(table);
  const named = { ...table, namespace: [...table.namespace] };
  await policyCall(catalog, {
    kind: 'create_policy',
    policy,
    policyKind: 'row_access',
    orReplace: false,
    ifNotExists: false,
    arguments: [{ name: 'a', shown: 'a', type: 'BIGINT' }],
    returns: 'BOOLEAN',
    body: 'false',
    mappings: [],
  });
  const { rows } = await policyCall(catalog, { kind: 'find_policy', policy, policyKind: 'row_access' });
  const { version } = JSON.parse((rows as string[][])[0]?.[0] ?? '{}') as { readonly version: string };
  const [state] = await catalog.sql(
    `select t.id || '.' || t.version as version from catalog.iceberg_table t join catalog.catalog c on c.id = t.catalog_id
     where c.name = '${table.catalog}'`,
  );
  await policyCall(catalog, {
    kind: 'bind_row_policy',
    table: { table: named, version: (must(state, 'the table') as { readonly version: string }).version },
    policy,
    version,
    fieldIds: [1],
    mappings: [],
  });
}

const unbindPolicy = (catalog: TestCatalog, table: TableName): Promise<JsonObject> =>
  policyCall(catalog, {
    kind: 'unbind_row_policy',
    table: { ...table, namespace: [...table.namespace] },
    policy: policyOf(table),
  });

const configOf = ({ body }: RestAnswer): Config => body['config'] as Config;
const credentialsOf = ({ body }: { readonly body: JsonObject }): readonly Credential[] =>
  (body['storage-credentials'] ?? []) as unknown as readonly Credential[];
const onlyConfig = (answer: RestAnswer): Config => {
  expect(answer.status).toBe(200);
  expect(credentialsOf(answer)).toHaveLength(1);
  return must(credentialsOf(answer)[0], 'one credential').config;
};
const refused = { code: 'STORAGE_ERROR', message: expect.stringMatching(/40[13]/) as string };

describe('Google Cloud Storage', () => {
  let cloud: Cloud;
  const keyOf = (config: Config): GcsCredential => ({
    kind: 'gcs',
    token: config['gcs.oauth2.token'] ?? '',
    expiresAtMs: null,
    endpoint: config['gcs.service.host'] ?? null,
  });

  beforeAll(async () => {
    cloud = await Cloud.start('gcs');
  }, OTHER_STORE_MS);
  afterAll(() => cloud?.[Symbol.asyncDispose]());

  test('a load that asks for them has a token for one table, in every spelling', async () => {
    const location = locationOf(await cloud.create('t'));
    const answer = await cloud.load('t');
    const config = onlyConfig(answer);
    expect(credentialsOf(answer)[0]?.prefix).toBe(location);
    expect(configOf(answer)).toEqual(config);
    expect(config).toMatchObject({
      'gcs.oauth2.token-type': 'Bearer',
      'gcs.project-id': 'project',
      'gcs.oauth2.refresh-credentials-endpoint': 'v1/cloud/namespaces/s/tables/t/credentials',
    });
    const endMs = Number(config['gcs.oauth2.token-expires-at-ms']);
    expect(config['gcs.oauth2.token-expires-at']).toBe(String(endMs));
    expect(endMs - Date.now()).toBeGreaterThan(1_200_000);
    // The same for all who need the same; another for who only reads.
    expect(onlyConfig(await cloud.load('t'))['gcs.oauth2.token']).toBe(config['gcs.oauth2.token']);
    const { body } = await cloud.catalog.rest('POST', '/v1/cloud/namespaces/s/tables/t/credentials');
    expect(credentialsOf({ body })[0]?.config['gcs.oauth2.token']).toBe(config['gcs.oauth2.token']);
  });

  test('the token opens its table and nothing else, and a reader’s writes nothing', async () => {
    const root = `${cloud.store.root}/cloud/odd`;
    // Names that a sloppy condition would take for one another.
    const own = `${root}/orders`;
    const beside = [`${root}/orders2`, `${root}/orders'`, `${root}/order`, root, cloud.store.root];
    await cloud.create('orders', { location: own });
    const all = openStorage(root, cloud.store.credential);
    for (const folder of [own, ...beside]) await all.write(`${folder}/data/x`, Buffer.from('text'));
    const writer = openStorage(own, keyOf(onlyConfig(await cloud.load('orders'))));
    const reader = openStorage(own, keyOf(onlyConfig(await cloud.load('orders', { token: cloud.readToken }))));
    await writer.write(`${own}/data/y`, Buffer.from('mine'));
    await writer.place(`${own}/data/y`, `${own}/data/z`);
    expect(String(await reader.read(`${own}/data/z`, 10))).toBe('mine');
    expect((await Array.fromAsync(reader.list(own))).flat().toSorted()).toContain(`${own}/data/z`);
    for (const storage of [writer, reader]) {
      for (const folder of beside) {
        await expect(storage.read(`${folder}/data/x`, 10)).rejects.toMatchObject(refused);
        await expect(Array.fromAsync(storage.list(folder))).rejects.toMatchObject(refused);
        await expect(storage.write(`${folder}/data/new`, Buffer.from('x'))).rejects.toMatchObject(refused);
        await expect(storage.place(`${folder}/data/x`, `${own}/stolen`)).rejects.toMatchObject(refused);
        await expect(storage.remove([`${folder}/data/x`])).rejects.toThrow('403');
      }
      await expect(storage.place(`${own}/data/x`, `${root}/orders2/planted`)).rejects.toMatchObject(refused);
    }
    await expect(reader.write(`${own}/data/new`, Buffer.from('x'))).rejects.toMatchObject(refused);
    await expect(reader.remove([`${own}/data/x`])).rejects.toThrow('403');
    for (const folder of [own, ...beside]) expect(String(await all.read(`${folder}/data/x`, 10))).toBe('text');
  });

  test('quotes in the names of folders do not end the text of a condition', async () => {
    const root = `${cloud.store.root}/cloud/quoted`;
    const own = `${root}/it's') || resource.name.startsWith('projects`;
    await cloud.create('quoted', { location: own });
    const key = openStorage(own, keyOf(onlyConfig(await cloud.load('quoted'))));
    await key.write(`${own}/data/x`, Buffer.from('text'));
    expect(String(await key.read(`${own}/data/x`, 10))).toBe('text');
    await openStorage(root, cloud.store.credential).write(`${root}/other`, Buffer.from('text'));
    await expect(key.read(`${root}/other`, 10)).rejects.toMatchObject(refused);
  });

  test('a load that asks only for signatures has configuration only', async () => {
    await cloud.create('unsigned');
    const answer = await cloud.load('unsigned', { headers: { 'X-Iceberg-Access-Delegation': 'remote-signing' } });
    expect(credentialsOf(answer)).toEqual([]);
    expect(Object.keys(configOf(answer)).toSorted()).toEqual(['gcs.project-id', 'gcs.service.host']);
  });

  test('PyIceberg creates, writes, reads and deletes with nothing but a token', async () => {
    const { running, token } = cloud.catalog;
    const seen: unknown = JSON.parse(await python('test/bucket/pyiceberg_vended.py', running.url, token, 'cloud'));
    expect(seen).toEqual({ rows: [1, 2, 3], kept: [1, 3], appended: [1, 3, 4], io: 'PyArrowFileIO' });
  });
});

describe('Azure storage', () => {
  let cloud: Cloud;
  const keyOf = (config: Config, sas = config['adls.sas-token'] ?? ''): AdlsCredential => {
    const endpoint = `https://${(config['adls.account-host'] ?? '').split('/')[0] ?? ''}`;
    return { kind: 'adls', sas, expiresAtMs: null, endpoint };
  };
  const open = (location: string, credential: StoreCredential) => openStorage(location, credential);

  beforeAll(async () => {
    cloud = await Cloud.start('adls');
  }, OTHER_STORE_MS);
  afterAll(() => cloud?.[Symbol.asyncDispose]());

  test('a load that asks for them has a signature in every spelling, and is told that it opens the container', async () => {
    const location = locationOf(await cloud.create('t'));
    const answer = await cloud.load('t');
    const config = onlyConfig(answer);
    expect(credentialsOf(answer)[0]?.prefix).toBe(location);
    const sas = config['adls.sas-token'] ?? '';
    const end = config['adls.sas-token-expires-at-ms'] ?? '';
    for (const holder of ['', '.dfs.core.windows.net', '.blob.core.windows.net']) {
      expect(config[`adls.sas-token.${AZURITE_ACCOUNT}${holder}`]).toBe(sas);
      expect(config[`adls.sas-token-expires-at-ms.${AZURITE_ACCOUNT}${holder}`]).toBe(end);
    }
    expect(config).toMatchObject({
      'adls.account-name': AZURITE_ACCOUNT,
      'adls.refresh-credentials-endpoint': 'v1/cloud/namespaces/s/tables/t/credentials',
      'skein.vended-credentials': 'container',
    });
    expect(Number(end)).toBe(Date.parse(new URLSearchParams(sas).get('se') ?? ''));
    expect(new URLSearchParams(sas).get('sr')).toBe('c');
    await open(location, keyOf(config)).write(`${location}/data/x`, Buffer.from('text'));
  });

  test('a signature that reads writes nothing; one that ended, of another container or altered opens nothing', async () => {
    const location = locationOf(await cloud.create('attacked'));
    const at = `${location}/data/x`;
    await open(at, cloud.store.credential).write(at, Buffer.from('text'));
    const config = onlyConfig(await cloud.load('attacked', { token: cloud.readToken }));
    const sas = config['adls.sas-token'] ?? '';
    const reader = open(at, keyOf(config));
    expect(String(await reader.read(at, 10))).toBe('text');
    await expect(reader.write(`${location}/data/y`, Buffer.from('x'))).rejects.toMatchObject(refused);
    await expect(reader.remove([at])).rejects.toThrow('403');
    await expect(reader.place(at, `${location}/data/z`)).rejects.toMatchObject(refused);
    const altered = Object.entries({
      sp: 'racwdl',
      se: '2099-01-01T00:00:00Z',
      sr: 'b',
      sv: '2021-12-02',
      st: '2020-01-01T00:00:00Z',
    });
    for (const [field, value] of altered) {
      const query = new URLSearchParams(sas);
      query.set(field, value);
      await expect(open(at, keyOf(config, query.toString())).read(at, 10), field).rejects.toMatchObject(refused);
    }
    const ended = {
      account: AZURITE_ACCOUNT,
      container: 'warehouse',
      resource: 'container',
      path: '',
      permissions: 'rl',
      startsAtMs: Date.now() - 7_200_000,
      expiresAtMs: Date.now() - 60_000,
      isPlain: false,
    } as const;
    const key = { kind: 'account', key: AZURITE_KEY } as const;
    await expect(open(at, keyOf(config, makeSas(key, ended))).read(at, 10)).rejects.toMatchObject(refused);
    const other = { ...ended, container: 'elsewhere', expiresAtMs: Date.now() + 600_000 };
    await expect(open(at, keyOf(config, makeSas(key, other))).read(at, 10)).rejects.toMatchObject(refused);
  });

  test('without leave to give signatures of containers there is none, and Skein’s own readers have theirs', async () => {
    await cloud.add('narrow', { 'allow-container-sas': 'false' });
    const location = locationOf(await cloud.create('t', { catalog: 'narrow' }));
    const answer = await cloud.load('t', { catalog: 'narrow' });
    expect(credentialsOf(answer)).toEqual([]);
    expect(configOf(answer)).toMatchObject({ 'skein.vended-credentials': 'unavailable' });
    expect(JSON.stringify(answer.body)).not.toContain('sig=');
    const { status } = await cloud.catalog.rest('GET', '/v1/narrow/namespaces/s/tables/t/credentials');
    expect(status).toBeGreaterThanOrEqual(400);
    const vended = await cloud.catalog.call<{ key: { adls: { sas: string } } }>('VendKey', {
      folders: [location],
      writes: false,
      tenant: 'default',
    });
    expect(new URLSearchParams(vended.key.adls.sas).get('sp')).toBe('rl');
  });

  test('a container with a table of policies gives no signature, of any catalog, nor one that was made before', async () => {
    for (const name of ['bound', 'beside']) await cloud.add(name);
    const [secret, open] = [
      await cloud.create('t', { catalog: 'bound' }),
      await cloud.create('t', { catalog: 'beside' }),
    ];
    expect([secret.status, open.status]).toEqual([200, 200]);
    const before = onlyConfig(await cloud.load('t', { catalog: 'beside' }))['adls.sas-token'];
    expect(before).toContain('sr=c');
    await bindPolicy(cloud.catalog, { catalog: 'bound', namespace: ['s'], table: 't' });
    for (const catalog of ['bound', 'beside', 'cloud']) {
      if (catalog === 'cloud') await cloud.create('late');
      const name = catalog === 'cloud' ? 'late' : 't';
      const answer = await cloud.load(name, { catalog });
      expect(credentialsOf(answer), catalog).toEqual([]);
      expect(JSON.stringify(answer.body), catalog).not.toContain('sig=');
      const { status, body } = await cloud.catalog.rest(
        'GET',
        `/v1/${catalog}/namespaces/s/tables/${name}/credentials`,
      );
      expect(status, catalog).toBeGreaterThanOrEqual(400);
      if (catalog !== 'bound') expect(JSON.stringify(body)).toContain('tables with policies lie in the container');
    }
    // A folder is a table's own, whatever lies beside it.
    await cloud.add('deeper', { 'allow-container-sas': 'true', hierarchical: 'true' });
    await cloud.create('t', { catalog: 'deeper' });
    const folder = onlyConfig(await cloud.load('t', { catalog: 'deeper' }))['adls.sas-token'];
    expect(new URLSearchParams(folder).get('sr')).toBe('d');
    await unbindPolicy(cloud.catalog, { catalog: 'bound', namespace: ['s'], table: 't' });
    expect(onlyConfig(await cloud.load('t', { catalog: 'beside' }))['adls.sas-token']).toBe(before);
  });

  test('an account with folders gives a signature for the one of the table', async () => {
    await cloud.add('deep', { 'allow-container-sas': 'false', hierarchical: 'true' });
    const location = locationOf(await cloud.create('t', { catalog: 'deep' }));
    const config = onlyConfig(await cloud.load('t', { catalog: 'deep' }));
    const query = new URLSearchParams(config['adls.sas-token']);
    expect([query.get('sr'), query.get('sp'), query.get('sdd')]).toEqual(['d', 'racwdl', '3']);
    expect(config['skein.vended-credentials']).toBeUndefined();
    expect(location.split('/').slice(3)).toHaveLength(3);
  });

  test('PyIceberg creates, writes, reads and deletes with nothing but a token', async () => {
    const { running, token } = cloud.catalog;
    const own = { ca: cloud.store.env['NODE_EXTRA_CA_CERTS'], 'py-io-impl': 'pyiceberg.io.fsspec.FsspecFileIO' };
    const seen: unknown = JSON.parse(
      await pythonIn('azure', 'test/bucket/pyiceberg_vended.py', running.url, token, 'cloud', JSON.stringify(own)),
    );
    expect(seen).toEqual({ rows: [1, 2, 3], kept: [1, 3], appended: [1, 3, 4], io: 'FsspecFileIO' });
  }, 300_000);

  test('an old PyIceberg, which takes every property that begins as the signature’s for one, works with its signature', async () => {
    const { running, token } = cloud.catalog;
    await cloud.add('older');
    const own = {
      ca: cloud.store.env['NODE_EXTRA_CA_CERTS'],
      'py-io-impl': 'pyiceberg.io.fsspec.FsspecFileIO',
      packages: await packagesBeside('azure', ['pyiceberg==0.10.0', 'sortedcontainers==2.4.0']),
    };
    const seen: unknown = JSON.parse(
      await pythonIn('azure', 'test/bucket/pyiceberg_vended.py', running.url, token, 'older', JSON.stringify(own)),
    );
    expect(seen).toMatchObject({ rows: [1, 2, 3], kept: [1, 3], appended: [1, 3, 4], version: '0.10.0' });
  }, 300_000);
});
