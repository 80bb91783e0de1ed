import { generateKeyPairSync } from 'node:crypto';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, expect, test } from 'vitest';
import { presignGcs } from '#shared/storage/gcs/presign.ts';
import { NPM_INSTALL_MS, npmFolder } from '#test/support/npm-folder.ts';

/** The oracle of signed addresses of Google's store is Google's own SDK: for the same request it makes the same address. */

type Config = Readonly<Record<string, unknown>>;
type Sdk = {
  readonly Storage: new (options: Config) => {
    bucket(name: string): { file(name: string): { getSignedUrl(config: Config): Promise<readonly [string]> } };
  };
};

let sdk: Sdk;
const { privateKey } = generateKeyPairSync('rsa', {
  modulusLength: 2_048,
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
});
/** The SDK signs for no time that is over. */
const NOW = Math.floor(Date.now() / 1_000) * 1_000;
const REQUEST = {
  clientEmail: 'skein@project.iam.gserviceaccount.com',
  key: 'lake/.stages/a/x',
  method: 'GET' as 'GET' | 'PUT',
  seconds: 600,
};

beforeAll(async () => {
  const modules = await npmFolder('google-sdk', ['@google-cloud/storage@8.4.0']);
  sdk = createRequire(join(modules, 'vectors.js'))(join(modules, '@google-cloud', 'storage')) as Sdk;
}, NPM_INSTALL_MS);

type Varied = Partial<typeof REQUEST> & {
  readonly headers?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
};

const OTHERS: readonly (readonly [string, Varied])[] = [
  ['nothing', {}],
  ['the account', { clientEmail: 'other@project.iam.gserviceaccount.com' }],
  ['the name', { key: 'lake/other' }],
  ['a name with odd characters', { key: "a b/ü+&=%2F/it's (1)!*~" }],
  ['the method', { method: 'PUT' }],
  ['the time', { seconds: 601 }],
  ['the headers', { method: 'PUT', headers: { 'x-goog-content-length-range': '5,5' } }],
  [
    'the query',
    {
      query: {
        'response-content-disposition': `attachment; filename*=UTF-8''a%20b`,
        'response-content-type': 'text/plain',
      },
    },
  ],
];

test.each(OTHERS)('an address with another value of %s is the SDK’s', async (_what, more) => {
  const { clientEmail, key, method, seconds, headers = {}, query = {} } = { ...REQUEST, ...more };
  const expiresAtMs = NOW + seconds * 1_000;
  const file = new sdk.Storage({
    projectId: 'project',
    credentials: { client_email: clientEmail, private_key: privateKey },
  })
    .bucket('warehouse')
    .file(key);
  const [expected] = await file.getSignedUrl({
    version: 'v4',
    action: method === 'GET' ? 'read' : 'write',
    accessibleAt: new Date(NOW),
    expires: new Date(expiresAtMs),
    extensionHeaders: headers,
    queryParams: query,
  });
  const request = { method, location: `gs://warehouse/${key}`, headers, query, endpoint: null, expiresAtMs };
  const made = await presignGcs({ clientEmail, privateKey }, request, NOW);
  const membersOf = (url: string): object => {
    const { origin, pathname, searchParams } = new URL(url);
    return { origin, pathname, ...Object.fromEntries(searchParams) };
  };
  expect(membersOf(made)).toEqual(membersOf(expected));
});
