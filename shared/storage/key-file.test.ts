import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { readKeyFile } from './key-file.ts';

let file: string;
let folder: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'skein-key-file-'));
  file = join(folder, 'key');
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const SECRET = 'c2VjcmV0LXNlY3JldC1zZWNyZXQ';
const RSA = generateKeyPairSync('rsa', { modulusLength: 2_048 }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const CURVE = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' });
const ACCOUNT = {
  type: 'service_account',
  project_id: 'project',
  private_key_id: 'key-1',
  private_key: RSA,
  client_email: 'skein@project.iam.gserviceaccount.com',
};

test.each([
  [ACCOUNT, { kind: 'gcs', clientEmail: ACCOUNT.client_email, tokenUri: 'https://oauth2.googleapis.com/token' }],
  [{ account_key: `${SECRET}=` }, { kind: 'adls', accountKey: `${SECRET}=` }],
  [
    { tenant_id: 'a', client_id: 'b', client_secret: SECRET },
    { kind: 'adls', tenantId: 'a', clientSecret: SECRET },
  ],
  [
    { access_key_id: 'a', secret_access_key: SECRET },
    { kind: 's3', secretAccessKey: SECRET, sessionToken: null },
  ],
])('the members of a file say of which store it is', async (members, expected) => {
  await writeFile(file, JSON.stringify(members));
  expect(readKeyFile(file)).toMatchObject(expected);
});

test.each([
  [
    'of a person',
    JSON.stringify({ type: 'authorized_user', refresh_token: SECRET }),
    'its type is not service_account',
  ],
  ['of another cloud', JSON.stringify({ type: 'external_account', x: SECRET }), 'its type is not service_account'],
  ['without a type', JSON.stringify({ private_key: RSA }), 'its type is not service_account'],
  ['without an e-mail', JSON.stringify({ ...ACCOUNT, client_email: SECRET }), 'it has no client_email'],
  ['with a key that is none', JSON.stringify({ ...ACCOUNT, private_key: SECRET }), 'its private_key is no RSA key'],
  ['with a key of a curve', JSON.stringify({ ...ACCOUNT, private_key: CURVE }), 'its private_key is no RSA key'],
  [
    'with an odd address',
    JSON.stringify({ ...ACCOUNT, token_uri: `file:///${SECRET}` }),
    'its token_uri is no address',
  ],
  ['that is cut', JSON.stringify(ACCOUNT).slice(0, -30), ''],
  ['that is a text', SECRET, 'expected access_key_id'],
  ['with an account key and more', `account_key: ${SECRET}\nother: x`, 'expected account_key'],
  ['with an account key that is none', `account_key: "${SECRET} ${SECRET}"`, 'account_key is not in base64'],
  ['with half a client', `tenant_id: a\nclient_secret: ${SECRET}`, 'expected tenant_id, client_id, client_secret'],
  ['with a tenant that is a path', `tenant_id: a/b\nclient_id: c\nclient_secret: ${SECRET}`, 'tenant_id is no id'],
  ['that is too large', SECRET.repeat(5_000), 'neither YAML nor JSON'],
])('a file %s is refused in one line, without anything of its text', async (_what, text, expected) => {
  await writeFile(file, text);
  let told = '';
  try {
    readKeyFile(file);
  } catch (error) {
    const { code, message } = SkeinError.of(error);
    expect(code).toBe('INVALID_REQUEST');
    told = message;
  }
  expect(told).not.toBe('');
  expect(told).toContain(expected);
  expect(told).not.toMatch(/\n|PRIVATE/);
  expect(told).not.toContain(SECRET);
  expect(told).not.toContain(folder);
});

test('a file that is not there is told by the system’s word for it', () => {
  expect(() => readKeyFile(join(folder, 'absent'))).toThrow(/^ENOENT$/);
});
