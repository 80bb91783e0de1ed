import { afterAll, beforeAll, expect, test } from 'vitest';
import { openStorage } from '#shared/storage/open-storage.ts';
import { locationOf } from '#test/support/catalog-requests.ts';
import { OTHER_STORE_MS, OTHER_STORES } from '#test/support/other-stores.ts';
import { sendRaw, type Outcome, type Sent } from '../bucket/store-ways.ts';
import { BESIDE, Lake, OWN, placesStayTheirs, type Attack, type Permission } from './lake.ts';

/**
 * As `test/bucket/attacks.test.ts`: everything that somebody may try who has a right to one table, `orders`, and wants at another's files, with
 * the tokens of Google's store. The rules of that store are those of the test server before fake-gcs-server.
 */

let store: Awaited<ReturnType<(typeof OTHER_STORES)['gcs']>>;
let lake: Lake;

beforeAll(async () => {
  store = await OTHER_STORES.gcs();
  lake = await Lake.start(store);
  await store.google.makeBucket('elsewhere');
  await openStorage('gs://elsewhere', store.credential).write('gs://elsewhere/data/one', Buffer.from('elsewhere'));
}, OTHER_STORE_MS);
afterAll(() => lake?.[Symbol.asyncDispose]());

const resource = (key: string, bucket = 'warehouse'): string => `/storage/v1/b/${bucket}/o/${encodeURIComponent(key)}`;
const get = (target: string): Attack => ({ method: 'GET', target });
const list = (query: string, bucket = 'warehouse'): Attack => get(`/storage/v1/b/${bucket}/o?${query}`);
const JSON_TYPE = { 'content-type': 'application/json' };
/** An upload that names its object in its body, and perhaps another one in its address. */
const upload = (key: string, query = ''): Sent => ({
  method: 'POST',
  target: `/upload/storage/v1/b/warehouse/o?uploadType=multipart${query}`,
  headers: { 'content-type': 'multipart/related; boundary=b' },
  body: `--b\r\ncontent-type: application/json\r\n\r\n${JSON.stringify({ name: key })}\r\n--b\r\ncontent-type: text/plain\r\n\r\nplanted\r\n--b--\r\n`,
});
const stolen = (sent: Sent): Attack => ({
  ...sent,
  by: 'write',
  harm: () => lake.isMade(`${OWN}/data/stolen`, 'orders2'),
});
const planted = (sent: Sent): Attack => ({ ...sent, by: 'write', harm: () => lake.isMade(`${BESIDE}/data/x`) });
const deletion = (sent: Sent): Attack => ({ ...sent, by: 'write', harm: () => lake.isGone('orders2') });
const one = `${BESIDE}/data/one`;

const attacks = (): Readonly<Record<string, Attack>> => ({
  'an object beside': get(`${resource(one)}?alt=media`),
  'what is known of an object beside': get(resource(one)),
  'an object beside, by ..': get(`${resource(`${OWN}/../orders2/data/one`)}?alt=media`),
  'an object beside, by the XML API': get(`/warehouse/${one}`),
  'an object beside, by the XML API and ..': get(`/warehouse/${OWN}/../orders2/data/one`),
  'an object beside, by an escaped ..': get(`/warehouse/${OWN}/%2e%2e/orders2/data/one`),
  'an object beside, by .. escaped twice': get(`/warehouse/${OWN}/%252e%252e/orders2/data/one`),
  'an object beside, by an escaped slash': get(`/warehouse/${OWN}%2f..%2forders2%2fdata%2fone`),
  'an object beside, by the address of downloads': get(`/download${resource(one)}?alt=media`),
  'a list of the parent': list('prefix=lake%2Ffixed%2F'),
  'a list without the slash': list('prefix=lake%2Ffixed%2Forders'),
  'a list of a folder beside, by ..': {
    ...list('prefix=lake%2Ffixed%2Forders%2F..%2Forders2%2F'),
    harm: ({ body }) => body.includes('orders2/data/one'),
  },
  'a list of the bucket': list(''),
  'a list from a name on': list('startOffset=lake%2Ffixed%2Forders2'),
  'a list by a pattern': list('matchGlob=lake%2Ffixed%2F**'),
  'a list with two prefixes': {
    ...list('prefix=lake%2Ffixed%2Forders%2F&prefix=lake%2Ffixed%2F'),
    harm: ({ body }) => body.includes('orders2/data/one'),
  },
  'a list of the XML API': get('/warehouse?prefix=lake%2Ffixed%2F'),
  'a list of buckets': get('/storage/v1/b?project=project'),
  'another bucket': get(`${resource('data/one', 'elsewhere')}?alt=media`),
  'a list of another bucket': list('prefix=data%2F', 'elsewhere'),
  'another tenant': get(`${resource('rival/s/t/data/one')}?alt=media`),
  'a list of another tenant': list('prefix=rival%2Fs%2Ft%2F'),
  'the bucket': get('/storage/v1/b/warehouse'),
  'the policy of the bucket': get('/storage/v1/b/warehouse/iam'),
  'who may open an object beside': get(`${resource(one)}/acl`),
  'a copy': stolen({
    method: 'POST',
    target: `${resource(one)}/rewriteTo${resource(`${OWN}/data/stolen`).slice('/storage/v1'.length)}`,
  }),
  'a copy by its older name': stolen({
    method: 'POST',
    target: `${resource(one)}/copyTo${resource(`${OWN}/data/stolen`).slice('/storage/v1'.length)}`,
  }),
  'a copy by the XML API': stolen({
    method: 'PUT',
    target: `/warehouse/${OWN}/data/stolen`,
    headers: { 'x-goog-copy-source': `/warehouse/${one}` },
    body: '',
  }),
  'an object that is put together': stolen({
    method: 'POST',
    target: `${resource(`${OWN}/data/stolen`)}/compose`,
    headers: JSON_TYPE,
    body: JSON.stringify({ sourceObjects: [{ name: one }] }),
  }),
  'a copy to a place beside': planted({
    method: 'POST',
    target: `${resource(`${OWN}/data/one`)}/rewriteTo${resource(`${BESIDE}/data/x`).slice('/storage/v1'.length)}`,
  }),
  'a write beside': planted(upload(`${BESIDE}/data/x`)),
  'a write beside, named in the address': planted({
    ...upload(`${OWN}/data/y`, `&name=${encodeURIComponent(`${BESIDE}/data/x`)}`),
  }),
  'a write beside, named in the body alone': planted(
    upload(`${BESIDE}/data/x`, `&name=${encodeURIComponent(`${OWN}/data/y`)}`),
  ),
  'a write beside, by the XML API': planted({ method: 'PUT', target: `/warehouse/${BESIDE}/data/x`, body: 'planted' }),
  'an upload in parts beside': {
    by: 'write',
    method: 'POST',
    target: `/upload/storage/v1/b/warehouse/o?uploadType=resumable&name=${encodeURIComponent(`${BESIDE}/data/x`)}`,
    headers: JSON_TYPE,
    body: '{}',
  },
  'a delete beside': deletion({ method: 'DELETE', target: resource(one) }),
  'a delete beside, by the XML API': deletion({ method: 'DELETE', target: `/warehouse/${one}` }),
  'a delete beside in a batch': deletion({
    method: 'POST',
    target: '/batch/storage/v1',
    headers: { 'content-type': 'multipart/mixed; boundary=b' },
    body: `--b\r\ncontent-type: application/http\r\n\r\nDELETE ${resource(one)} HTTP/1.1\r\n\r\n\r\n--b--\r\n`,
  }),
  'a change of what is known of an object beside': {
    by: 'write',
    method: 'PATCH',
    target: resource(one),
    headers: JSON_TYPE,
    body: '{"metadata":{"a":"b"}}',
  },
  'a write by who reads': { ...upload(`${OWN}/data/x`), harm: () => lake.isMade(`${OWN}/data/x`) },
  'a copy by who reads': {
    method: 'POST',
    target: `${resource(`${OWN}/data/one`)}/rewriteTo${resource(`${OWN}/data/x`).slice('/storage/v1'.length)}`,
    harm: () => lake.isMade(`${OWN}/data/x`),
  },
  'a delete by who reads': { method: 'DELETE', target: resource(`${OWN}/data/one`), harm: () => lake.isGone('orders') },
  'an upload in parts by who reads': {
    method: 'POST',
    target: `/upload/storage/v1/b/warehouse/o?uploadType=resumable&name=${encodeURIComponent(`${OWN}/data/x`)}`,
    headers: JSON_TYPE,
    body: '{}',
  },
  'an upload in parts of the XML API by who reads': { method: 'POST', target: `/warehouse/${OWN}/data/x?uploads` },
});

const tokenOf = async (by: Permission): Promise<string> =>
  (await lake.config('orders', lake.tokens[by]))['gcs.oauth2.token'] ?? '';
const sendAs = (token: string, sent: Sent): Promise<Outcome> =>
  sendRaw(store.google.endpoint, { ...sent, headers: { ...sent.headers, authorization: `Bearer ${token}` } });
const send = async (sent: Sent, by: Permission): Promise<Outcome> => sendAs(await tokenOf(by), sent);

test('what must work works', async () => {
  const ok = async (by: Permission, sent: Sent): Promise<string> => {
    const { status, body } = await send(sent, by);
    expect(status, `${sent.method} ${sent.target}: ${body}`).toBeLessThan(300);
    return body;
  };
  const at = `${OWN}/data/d=2020%2F01 a+b/ü (1)`;
  await ok('write', upload(at));
  expect(await ok('read', get(`${resource(at)}?alt=media`))).toBe('planted');
  expect(await ok('read', { ...get(`${resource(at)}?alt=media`), headers: { range: 'bytes=2-4' } })).toBe('ant');
  expect(await ok('read', list(`prefix=${encodeURIComponent(`${OWN}/`)}`))).toContain(`${OWN}/data/one`);
  const copied = resource(`${OWN}/data/copied`);
  await ok('write', { method: 'POST', target: `${resource(at)}/rewriteTo${copied.slice('/storage/v1'.length)}` });
  expect(await ok('read', get(`/warehouse/${OWN}/data/copied`))).toBe('planted');
  for (const target of [copied, resource(at)]) await ok('write', { method: 'DELETE', target });
  expect(await lake.textAt(`${OWN}/data/copied`)).toBe('');
});

test('every attack is refused', async () => {
  expect(await lake.succeeding(attacks(), send)).toEqual([]);
});

test('a token that is altered, that has ended, or that asks for a wider one, opens nothing', async () => {
  const token = await tokenOf('read');
  const own = get(`${resource(`${OWN}/data/one`)}?alt=media`);
  expect((await sendAs(token, own)).body).toBe('orders');
  expect((await sendAs(`${token}x`, own)).status).toBe(401);
  expect((await sendAs('', own)).status).toBe(401);
  const wider = new URLSearchParams({
    grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
    subject_token: token,
    options: JSON.stringify({
      accessBoundary: {
        accessBoundaryRules: [
          {
            availableResource: '//storage.googleapis.com/projects/_/buckets/warehouse',
            availablePermissions: ['inRole:roles/storage.objectUser'],
          },
        ],
      },
    }),
  });
  const asked = { method: 'POST', target: '/v1/token', body: wider.toString() };
  expect((await sendRaw(store.google.endpoint, asked)).status).toBe(400);
  store.google.setTokenLife(1_000);
  await lake.forgetKeys();
  const brief = await tokenOf('read');
  store.google.setTokenLife(3_600_000);
  await expect.poll(async () => (await sendAs(brief, own)).status, { timeout: 5_000 }).toBe(401);
  await lake.forgetKeys();
});

test('within a boundary that is too wide the same attacks succeed: the list sees what it is to see', async () => {
  store.google.setWide(true);
  await lake.forgetKeys();
  try {
    expect(await lake.succeeding(attacks(), send)).toEqual(
      expect.arrayContaining([
        'an object beside',
        'what is known of an object beside',
        'an object beside, by the XML API',
        'a list of the parent',
        'a list without the slash',
        'a list of the bucket',
        'another tenant',
        'a copy',
        'a copy to a place beside',
        'a write beside',
        'a delete beside',
        'a write by who reads',
        'a delete by who reads',
      ]),
    );
  } finally {
    store.google.setWide(false);
    await lake.forgetKeys();
  }
});

test('a table that is dropped and made anew is closed to the old token', async () => {
  await lake.create('anew');
  const token = (await lake.config('anew', lake.tokens.write))['gcs.oauth2.token'] ?? '';
  await lake.drop('anew');
  const key = locationOf(await lake.create('anew')).slice(`${store.root}/`.length);
  await lake.put(`${key}/data/one`, 'new');
  expect((await sendAs(token, get(`${resource(`${key}/data/one`)}?alt=media`))).status).toBe(403);
});

placesStayTheirs(() => lake, { ofOthers: 'gs://elsewhere/data', spellings: [] });
