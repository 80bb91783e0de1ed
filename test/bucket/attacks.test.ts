import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { assumeRole } from '#catalog/storage/assume-role.ts';
import { sessionPolicy, type Permission } from '#catalog/storage/session-policy.ts';
import { presignRequest } from '#catalog/delegation/sign/sign-request.ts';
import { readStoreUri } from '#catalog/delegation/sign/store-uri.ts';
import type { S3Credential } from '#shared/storage/credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { addBucketCatalog, startBucketCatalog, type BucketCatalog } from '#test/support/bucket-catalog.ts';
import type { RestAnswer, TestCatalog } from '#test/support/catalog.ts';
import { locationOf, SCHEMA } from '#test/support/catalog-requests.ts';
import { MINIO_BUILD_MS, type Minio } from '#test/support/minio.ts';
import { statementRunner } from '#test/support/run-statements.ts';
import type { StsRelay } from '#test/support/sts-relay.ts';
import { sendRaw, signWith, storeWays, type Outcome, type Sent, type StoreWay } from './store-ways.ts';
import { patience } from '#test/support/run/slowness.ts';

/**
 * Everything that somebody may try who has a right to one table, `orders`, and wants at another's files: with keys, by both endpoints that
 * sign, and with presigned addresses, against a real store.
 */

const ROOT = '/warehouse/lake/fixed';
const OWN = `${ROOT}/orders`;
const TABLE = '/v1/cloud/namespaces/s/tables/orders';

let store: BucketCatalog;
let minio: Minio;
let sts: StsRelay;
let catalog: TestCatalog;
const tokens: Record<Permission, string> = { read: '', write: '' };
/** A token of another user, who may write. */
let others = '';
let uploadId = '';

const post = (path: string, body: object, token = catalog.token): Promise<RestAnswer> =>
  catalog.rest('POST', path, { body, token });
const createAt = (name: string, location?: string, more: object = {}, token = catalog.token): Promise<RestAnswer> =>
  post(
    '/v1/cloud/namespaces/s/tables',
    { name, schema: SCHEMA, ...(location === undefined ? {} : { location }), ...more },
    token,
  );
const put = (location: string, text: string): Promise<unknown> =>
  openStorage(location, minio.key).write(location, Buffer.from(text));
const rootly = async (sent: Sent): Promise<Outcome> =>
  sendRaw(minio.endpoint, { ...sent, headers: await signWith(minio.key, minio.endpoint, sent) });
/** The text of an object; '' when there is none. */
const textAt = async (target: string): Promise<string> => {
  const { status, body } = await rootly({ method: 'GET', target });
  return status === 200 ? body : '';
};

beforeAll(async () => {
  store = await startBucketCatalog();
  ({ minio, sts, catalog } = store);
  await minio.makeBucket('elsewhere');
  await catalog.call('CreateTenant', { name: 'rival', admin_user: 'eve', admin_password: 'a long enough password' });
  await addBucketCatalog(catalog, minio, {
    name: 'theirs',
    location: 's3://warehouse/rival',
    tenant: 'rival',
    settings: { 'sts-endpoint': sts.endpoint },
  });
  for (const name of ['orders', 'orders2']) {
    expect((await createAt(name, `s3://warehouse/lake/fixed/${name}`)).status).toBe(200);
    await put(`s3://warehouse/lake/fixed/${name}/data/one`, name);
  }
  await put('s3://elsewhere/data/one', 'elsewhere');
  await put('s3://warehouse/rival/s/t/data/one', 'rival');
  tokens.read = await catalog.mint({ scope: ['table:read', 'table:data'] });
  tokens.write = await catalog.mint({ scope: ['table:read', 'table:data', 'table:write'] });
  await statementRunner(catalog).createUser('other');
  others = await catalog.mint({ user: 'other', scope: ['table:read', 'table:data', 'table:write'] });
  const { body } = await rootly({ method: 'POST', target: `${OWN}/data/parts?uploads` });
  uploadId = /<UploadId>([^<]+)/.exec(body)?.[1] ?? '';
}, MINIO_BUILD_MS);

afterAll(() => store?.[Symbol.asyncDispose]());

/** The text of an object, which is then deleted. */
async function taken(target: string): Promise<string> {
  const text = await textAt(target);
  await rootly({ method: 'DELETE', target });
  return text;
}

type Attack = {
  /** It is for a table that the token may have, too: where the table is found by its location, it is no attack. */
  readonly isOfSibling?: boolean;
  readonly sent: Sent;
  readonly by?: Permission;
  /** Changes the request when it is signed. */
  readonly after?: (signed: Sent) => Sent;
  /** Whether it did what it wanted; default: the store answered it. */
  readonly harm?: (outcome: Outcome) => Promise<boolean> | boolean;
};

const get = (target: string): Attack => ({ sent: { method: 'GET', target } });
const list = (query: string): Attack => get(`/warehouse?${query}`);
const copy = (source: string, how: 'signed' | 'unsigned', target = `${OWN}/data/stolen`): Attack => ({
  by: 'write',
  sent: { method: 'PUT', target, ...(how === 'signed' ? { headers: { 'x-amz-copy-source': source } } : {}) },
  ...(how === 'signed'
    ? {}
    : { after: (signed) => ({ ...signed, headers: { ...signed.headers, 'x-amz-copy-source': source } }) }),
  harm: async ({ status }) => (target.includes('uploadId') ? status < 300 : (await taken(target)) === 'orders2'),
});
const deletion = (keys: string): Attack => ({
  by: 'write',
  sent: {
    method: 'POST',
    target: '/warehouse?delete',
    headers: { 'content-type': 'application/xml', 'content-md5': md5(`<Delete><Quiet>true</Quiet>${keys}</Delete>`) },
    body: `<Delete><Quiet>true</Quiet>${keys}</Delete>`,
  },
  harm: async () => {
    if ((await textAt(`${ROOT}/orders2/data/one`)) !== '') return false;
    await put('s3://warehouse/lake/fixed/orders2/data/one', 'orders2');
    return true;
  },
});
const md5 = (text: string): string => createHash('md5').update(text).digest('base64');
const object = (key: string): string => `<Object><Key>${key}</Key></Object>`;
const writing = (method: string, target: string, by: Permission = 'read'): Attack => ({ by, sent: { method, target } });
/** A signature for something allowed, of which something else is made. */
const replayed = (sent: Sent, after: (signed: Sent) => Sent): Attack => ({ by: 'write', sent, after });
const OWN_GET: Sent = { method: 'GET', target: `${OWN}/data/one` };

const attacks = (): Readonly<Record<string, Attack>> => ({
  'an object beside': { ...get(`${ROOT}/orders2/data/one`), isOfSibling: true },
  'an object beside, by ..': get(`${OWN}/../orders2/data/one`),
  'an object beside, by an escaped ..': get(`${OWN}/%2e%2e/orders2/data/one`),
  'an object beside, by .. escaped twice': get(`${OWN}/%252e%252e/orders2/data/one`),
  'an object beside, by an escaped slash': get(`${OWN}%2f..%2forders2/data/one`),
  'a list of the parent': list('list-type=2&prefix=lake%2Ffixed%2F'),
  'a list without the slash': list('list-type=2&prefix=lake%2Ffixed%2Forders'),
  'a list of a folder beside, by ..': {
    ...list('list-type=2&prefix=lake%2Ffixed%2Forders%2F..%2Forders2%2F'),
    harm: ({ body }) => body.includes('orders2/data/one'),
  },
  'an object beside, by .. escaped twice behind what is no escape': get(
    `${OWN}/%25zz/%252e%252e/%252e%252e/orders2/data/one`,
  ),
  'a list of the bucket': list('list-type=2'),
  'a list of the first version': list('prefix=lake%2Ffixed%2F'),
  'a list with two prefixes': list('list-type=2&prefix=lake%2Ffixed%2Forders%2F&prefix=lake%2Ffixed%2F'),
  'another bucket': get('/elsewhere/data/one'),
  'a list of another bucket': get('/elsewhere?list-type=2&prefix=data%2F'),
  'another tenant': get('/warehouse/rival/s/t/data/one'),
  'a list of another tenant': list('list-type=2&prefix=rival%2Fs%2Ft%2F'),
  'the policy of the bucket': list('policy'),
  'a copy': copy('/warehouse/lake/fixed/orders2/data/one', 'signed'),
  'a copy, escaped': copy('/warehouse/lake/fixed/orders/%2e%2e/orders2/data/one', 'signed'),
  'a copy that is added unsigned': copy('/warehouse/lake/fixed/orders2/data/one', 'unsigned'),
  'a copy of a part': copy(
    '/warehouse/lake/fixed/orders2/data/one',
    'signed',
    `${OWN}/data/parts?partNumber=1&uploadId=${uploadId}`,
  ),
  'a copy of a part that is added unsigned': copy(
    '/warehouse/lake/fixed/orders2/data/one',
    'unsigned',
    `${OWN}/data/parts?partNumber=1&uploadId=${uploadId}`,
  ),
  'a write beside': { ...writing('PUT', `${ROOT}/orders2/data/x`, 'write'), isOfSibling: true },
  'a delete beside': {
    isOfSibling: true,
    ...writing('DELETE', `${ROOT}/orders2/data/one`, 'write'),
    harm: deletion('').harm ?? (() => true),
  },
  'a deletion of many with one beside': deletion(
    object('lake/fixed/orders/data/x') + object('lake/fixed/orders2/data/one'),
  ),
  'a deletion with entities': { ...deletion(object('lake/fixed/orders&#50;/data/one')), isOfSibling: true },
  'a deletion with CDATA': { ...deletion(object('<![CDATA[lake/fixed/orders2]]>/data/one')), isOfSibling: true },
  'a deletion with a comment': { ...deletion(object('lake/fixed/orders<!-- / -->2/data/one')), isOfSibling: true },
  'a write by who reads': writing('PUT', `${OWN}/data/x`),
  'a delete by who reads': {
    ...writing('DELETE', `${OWN}/data/one`),
    harm: async () => {
      if ((await textAt(`${OWN}/data/one`)) !== '') return false;
      await put('s3://warehouse/lake/fixed/orders/data/one', 'orders');
      return true;
    },
  },
  'an upload in parts by who reads': writing('POST', `${OWN}/data/x?uploads`),
  'a replay with another method': replayed(OWN_GET, (signed) => ({ ...signed, method: 'DELETE' })),
  'a replay with another key': replayed(OWN_GET, (signed) => ({
    ...signed,
    target: signed.target.replace('/data/one', '/metadata/x'),
  })),
  'a replay with another query': replayed(
    { method: 'GET', target: '/warehouse?list-type=2&prefix=lake%2Ffixed%2Forders%2F' },
    (signed) => ({
      ...signed,
      target: signed.target.replace('prefix=lake%2Ffixed%2Forders%2F', 'prefix=lake%2Ffixed%2F'),
    }),
  ),
  'a replay with another body': {
    ...replayed(
      {
        method: 'POST',
        target: '/warehouse?delete',
        headers: { 'content-type': 'application/xml' },
        body: `<Delete>${object('lake/fixed/orders/data/absent')}</Delete>`,
      },
      (signed) => ({ ...signed, body: `<Delete>${object('lake/fixed/orders2/data/one')}</Delete>` }),
    ),
    harm: deletion('').harm ?? (() => true),
  },
  'a replay with another header': replayed(
    { method: 'PUT', target: `${OWN}/data/headed`, headers: { 'x-amz-meta-a': '1' } },
    (signed) => ({ ...signed, headers: { ...signed.headers, 'x-amz-meta-a': '2' } }),
  ),
});

/** The names of the attacks that did what they wanted. */
async function succeeding(way: StoreWay, byLocation = false): Promise<readonly string[]> {
  const succeeded: string[] = [];
  for (const [name, { sent, by = 'read', after, harm, isOfSibling }] of Object.entries(attacks())) {
    if (byLocation && isOfSibling === true) continue;
    const outcome = await way(tokens[by], sent, after);
    if (await (harm ?? (({ status }: Outcome) => status < 300))(outcome)) succeeded.push(name);
  }
  return succeeded;
}

const WAYS = ['keys', 'signer', 'older signer', 'presigned'] as const;

describe.each(WAYS)('by %s', (name) => {
  const way: StoreWay = (token, sent, after) => storeWays(catalog, minio.endpoint, TABLE)[name](token, sent, after);
  const ok = async (token: string, sent: Sent): Promise<string> => {
    const { status, body } = await way(token, sent);
    expect(status, `${sent.method} ${sent.target}: ${body}`).toBeLessThan(300);
    return body;
  };

  test('what must work works', async () => {
    const at = `${OWN}/data/work-${name.replace(' ', '-')}`;
    await ok(tokens.write, {
      method: 'PUT',
      target: at,
      body: 'some bytes',
      headers: { 'content-type': 'text/plain' },
    });
    expect(await ok(tokens.read, { method: 'GET', target: at })).toBe('some bytes');
    expect(await ok(tokens.read, { method: 'GET', target: at, headers: { range: 'bytes=5-9' } })).toBe('bytes');
    await ok(tokens.read, { method: 'HEAD', target: at });
    const found = await ok(tokens.read, {
      method: 'GET',
      target: '/warehouse?list-type=2&prefix=lake%2Ffixed%2Forders%2Fdata%2F',
    });
    expect(found).toContain('<Key>lake/fixed/orders/data/one</Key>');
    const odd = `${OWN}/data/d%3D2020%252F01%20a%2Bb/%C3%BC%20%281%29`;
    await ok(tokens.write, { method: 'PUT', target: odd, body: 'odd' });
    expect(await ok(tokens.read, { method: 'GET', target: odd })).toBe('odd');
    await ok(tokens.write, { method: 'PUT', target: `${at}-copied`, headers: { 'x-amz-copy-source': at } });
    expect(await ok(tokens.read, { method: 'GET', target: `${at}-copied` })).toBe('some bytes');
    const begun = await ok(tokens.write, { method: 'POST', target: `${at}-parts?uploads=` });
    const id = /<UploadId>([^<]+)/.exec(begun)?.[1] ?? '';
    await ok(tokens.write, { method: 'PUT', target: `${at}-parts?partNumber=1&uploadId=${id}`, body: 'a part' });
    const parts = await ok(tokens.write, { method: 'GET', target: `${at}-parts?uploadId=${id}` });
    const etag = /<ETag>([^<]+)/.exec(parts)?.[1] ?? '';
    const body = `<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>${etag}</ETag></Part></CompleteMultipartUpload>`;
    await ok(tokens.write, { method: 'POST', target: `${at}-parts?uploadId=${id}`, body });
    expect(await ok(tokens.read, { method: 'GET', target: `${at}-parts` })).toBe('a part');
    const aborted = await ok(tokens.write, { method: 'POST', target: `${at}-aborted?uploads=` });
    const abortedId = /<UploadId>([^<]+)/.exec(aborted)?.[1] ?? '';
    await ok(tokens.write, { method: 'DELETE', target: `${at}-aborted?uploadId=${abortedId}` });
    await ok(tokens.write, { method: 'DELETE', target: `${at}-copied` });
    expect(await textAt(`${at}-copied`)).toBe('');
    // An address holds no body.
    if (name === 'presigned') return;
    const deleted = `<Delete>${object(at.slice('/warehouse/'.length))}${object('lake/fixed/orders/data/absent')}</Delete>`;
    await ok(tokens.write, {
      method: 'POST',
      target: '/warehouse?delete',
      body: deleted,
      headers: { 'content-md5': md5(deleted) },
    });
    expect(await textAt(at)).toBe('');
  });

  test('every attack is refused', async () => {
    expect(await succeeding(way, name === 'older signer')).toEqual([]);
  });
});

test('on a policy that is too wide the same attacks succeed by keys: the list sees what it is to see', async () => {
  sts.widen(async () => {
    const settings = {
      kind: 's3',
      flavor: 'minio',
      region: 'us-east-1',
      endpoint: minio.endpoint,
      internalEndpoint: null,
      stsEndpoint: null,
      pathStyle: true,
      roleArn: null,
      externalId: null,
    } as const;
    const policy = sessionPolicy(['s3://warehouse/lake', 's3://warehouse/rival'], 'write', 'us-east-1');
    const key = await assumeRole(minio.key, settings, { name: 'wide', policy, lifeSeconds: 3_600 });
    return `<AssumeRoleResponse><AssumeRoleResult><Credentials><AccessKeyId>${key.accessKeyId}</AccessKeyId><SecretAccessKey>${key.secretAccessKey}</SecretAccessKey><SessionToken>${key.sessionToken}</SessionToken><Expiration>${new Date(key.expiresAtMs).toISOString()}</Expiration></Credentials></AssumeRoleResult></AssumeRoleResponse>`;
  });
  try {
    // The keys that are known are forgotten.
    await catalog.call('AlterCatalog', {
      name: 'cloud',
      allow_roots: [],
      disallow_roots: [],
      undrop_window_ms: -1,
      bucket: { settings: { region: 'us-east-1' } },
    });
    const ways = storeWays(catalog, minio.endpoint, TABLE);
    expect(await succeeding(ways.keys)).toEqual(
      expect.arrayContaining([
        'an object beside',
        'a list of the parent',
        'another tenant',
        'a copy',
        'a copy that is added unsigned',
        'a write beside',
        'a deletion of many with one beside',
        'a deletion with entities',
        'a write by who reads',
      ]),
    );
    // Signatures are the second wall: only what is added to a request when it is signed gets through.
    for (const name of ['signer', 'older signer', 'presigned'] as const) {
      const through = await succeeding(ways[name], name === 'older signer');
      expect(
        through.filter((one) => !one.includes('added unsigned')),
        name,
      ).toEqual([]);
    }
  } finally {
    sts.widen(null);
    await catalog.call('AlterCatalog', {
      name: 'cloud',
      allow_roots: [],
      disallow_roots: [],
      undrop_window_ms: -1,
      bucket: { settings: { region: 'us-east-1' } },
    });
  }
});

const keyOf = async (table: string, token = tokens.write): Promise<S3Credential> => {
  const answer = await catalog.rest('GET', `/v1/cloud/namespaces/s/tables/${table}/credentials`, {
    token,
  });
  const [credential] = answer.body['storage-credentials'] as unknown as { config: Record<string, string> }[];
  return {
    ...minio.key,
    accessKeyId: credential?.config['s3.access-key-id'] ?? '',
    secretAccessKey: credential?.config['s3.secret-access-key'] ?? '',
    sessionToken: credential?.config['s3.session-token'] ?? '',
  };
};

test('what has expired or was changed is refused: a signature, an address, a key without its token', async () => {
  const key = await keyOf('orders');
  const sent: Sent = { method: 'GET', target: `${OWN}/data/one` };
  const by = async (changed: S3Credential, date?: Date): Promise<number> =>
    (await sendRaw(minio.endpoint, { ...sent, headers: await signWith(changed, minio.endpoint, sent, date) })).status;
  expect(await by(key)).toBe(200);
  expect(await by(key, new Date(Date.now() - 16 * 60_000))).toBe(403);
  expect(await by({ ...key, sessionToken: `${key.sessionToken}x` })).toBe(403);
  expect(await by({ ...key, sessionToken: minio.key.sessionToken })).toBe(403);
  const settings = { endpoint: minio.endpoint, region: 'us-east-1', pathStyle: true };
  const uri = `${minio.endpoint}${sent.target}`;
  const request = {
    method: 'GET',
    uri: readStoreUri(uri, settings),
    headers: new Map<string, string>(),
    body: undefined,
  };
  const address = await presignRequest(request, key, 1);
  const target = address.uri.slice(minio.endpoint.length);
  expect((await sendRaw(minio.endpoint, { method: 'GET', target })).status).toBe(200);
  await expect
    .poll(async () => (await sendRaw(minio.endpoint, { method: 'GET', target })).status, { timeout: patience(5_000) })
    .toBe(403);
});

test('a table that is dropped and made anew by another is closed to the old key', async () => {
  await createAt('anew');
  const key = await keyOf('anew');
  await catalog.rest('DELETE', '/v1/cloud/namespaces/s/tables/anew');
  const location = locationOf(await createAt('anew'));
  await put(`${location}/data/one`, 'new');
  await expect(openStorage(location, key).read(`${location}/data/one`, 10)).rejects.toMatchObject({
    code: 'STORAGE_ERROR',
  });
});

test('the folder of a dropped table is nobody’s until the last key for it has ended', async () => {
  const place = 's3://warehouse/lake/fixed/former';
  const made = await createAt('former', place);
  const document = made.body['metadata-location'] as string;
  const key = await keyOf('former');
  for (const [path, query] of [
    ['former', ''],
    ['again', ''],
  ] as const) {
    expect((await catalog.rest('DELETE', `/v1/cloud/namespaces/s/tables/${path}${query}`)).status).toBe(204);
    const refused = await createAt('next', `${place}/below`, {}, others);
    expect([refused.status, JSON.stringify(refused.body)]).toEqual([
      400,
      expect.stringContaining('keys to its files end'),
    ]);
    expect((await createAt('next', place, { 'stage-create': true }, others)).status).toBe(400);
    // It is the same table.
    const body = { name: 'again', 'metadata-location': document };
    expect((await post('/v1/cloud/namespaces/s/register', body)).status).toBe(200);
  }
  await catalog.rest('DELETE', '/v1/cloud/namespaces/s/tables/again');
  // The clock of the store's keys is not ours to turn.
  await catalog.sql(
    `UPDATE catalog.folder_claim SET keys_until = now() - interval '1 second' WHERE location = '${place}'`,
  );
  expect(key.expiresAtMs ?? Infinity).toBeGreaterThan(Date.now());
  expect((await createAt('next', place, {}, others)).status).toBe(200);
});

test('who alone has the keys of a dropped table may make one at its place', async () => {
  const location = 's3://warehouse/lake/fixed/alone';
  const make = (token: string) => createAt('alone', location, {}, token);
  const drop = () => catalog.rest('DELETE', '/v1/cloud/namespaces/s/tables/alone');
  expect((await make(tokens.write)).status).toBe(200);
  await keyOf('alone');
  await drop();
  const refused = await make(others);
  expect([refused.status, JSON.stringify(refused.body)]).toEqual([
    400,
    expect.stringContaining('keys to its files end'),
  ]);
  expect((await make(tokens.write)).status).toBe(200);
  for (const token of [others, tokens.write]) await keyOf('alone', token);
  await drop();
  for (const token of [others, tokens.write]) expect((await make(token)).status).toBe(400);
});

describe('no commit moves a table to a foreign, enclosing or enclosed place', () => {
  const PLACES = [
    ['of a sibling', 's3://warehouse/lake/fixed/orders2'],
    ['above a sibling', 's3://warehouse/lake/fixed'],
    ['within a sibling', 's3://warehouse/lake/fixed/orders2/data'],
    ['of another tenant', 's3://warehouse/rival/s/t'],
    ['of another bucket', 's3://elsewhere/data'],
    ['that climbs', 's3://warehouse/lake/fixed/orders/../orders2'],
    ['the root itself', 's3://warehouse/lake'],
    ['of stages', 's3://warehouse/lake/.stages/x'],
  ] as const;

  test.each(PLACES)('a place %s', async (_name, place) => {
    const commit = (update: object): Promise<RestAnswer> => post(TABLE, { requirements: [], updates: [update] });
    expect((await commit({ action: 'set-location', location: place })).status).toBe(400);
    for (const name of ['write.data.path', 'write.metadata.path', 'write.object-storage.path']) {
      expect((await commit({ action: 'set-properties', updates: { [name]: place } })).status, name).toBe(400);
    }
    expect((await createAt('intruder', place)).status).toBe(400);
    expect((await createAt('intruder', place, { 'stage-create': true })).status).toBe(400);
  });
});

test('foreign metadata is not registered', async () => {
  const metadata = async (path: string): Promise<string> =>
    (await catalog.rest('GET', path)).body['metadata-location'] as string;
  const register = (file: string): Promise<RestAnswer> =>
    post('/v1/cloud/namespaces/s/register', { name: 'registered', 'metadata-location': file });
  const sibling = await metadata('/v1/cloud/namespaces/s/tables/orders2');
  expect((await register(sibling)).status).toBe(400);
  const text = await textAt(sibling.replace('s3:/', ''));
  const [own, foreign] = [
    's3://warehouse/lake/fixed/orders/metadata/x.metadata.json',
    's3://warehouse/rival/s/t/metadata/x.metadata.json',
  ];
  await put(own, text.replaceAll('s3://warehouse/lake/fixed/orders2', 's3://warehouse/rival/s/t'));
  await put(foreign, text);
  expect((await register(own)).status).toBe(400);
  expect((await register(foreign)).status).toBe(400);
});
