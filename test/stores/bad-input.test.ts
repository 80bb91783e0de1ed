import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startAzurite, AZURITE_ACCOUNT, AZURITE_KEY, type Azurite } from '#test/support/azurite.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { errorOf } from '#test/support/catalog-requests.ts';
import { CLIENT, SECRET, startEntra, TENANT, type Entra } from '#test/support/entra.ts';
import { startGoogle, type Google } from '#test/support/google.ts';
import { OTHER_STORE_MS } from '#test/support/other-stores.ts';

let google: Google;
let azurite: Azurite;
let entra: Entra;
let catalog: TestCatalog;
let folder: string;

beforeAll(async () => {
  google = await startGoogle();
  azurite = await startAzurite();
  entra = await startEntra();
  folder = await mkdtemp(join(tmpdir(), 'skein-bad-input-'));
  const [accountFile, clientFile] = [join(folder, 'google.json'), join(folder, 'azure.yaml')];
  await writeFile(accountFile, google.accountFile);
  await writeFile(clientFile, `tenant_id: ${TENANT}\nclient_id: ${CLIENT}\nclient_secret: ${SECRET}\n`);
  catalog = await startTestCatalog({
    'catalog.storage_profiles': JSON.stringify({
      google: {
        storage: 'gs://warehouse/clients',
        credentials: accountFile,
        endpoint: google.endpoint,
        sts_endpoint: google.endpoint,
      },
      azure: {
        storage: `wasbs://warehouse@${AZURITE_ACCOUNT}.blob.core.windows.net/clients`,
        credentials: clientFile,
        endpoint: azurite.endpoint,
        sts_endpoint: entra.endpoint,
        allow_container_sas: 'true',
      },
    }),
    'catalog.google_metadata_url': google.endpoint,
    'catalog.azure_metadata_url': entra.endpoint,
  });
}, OTHER_STORE_MS);

afterAll(async () => {
  await catalog?.[Symbol.asyncDispose]();
  await entra?.[Symbol.asyncDispose]();
  await azurite?.[Symbol.asyncDispose]();
  await google?.[Symbol.asyncDispose]();
  await rm(folder, { recursive: true, force: true });
});

type Checks = { readonly checks: readonly { readonly name: string; readonly problem: string }[] };

let made = 0;
/** Creates a catalog and checks it. @returns all that is said of it, '' = all is well */
async function problemOf(
  kind: 'gcs' | 'adls',
  key: object | null,
  settings: Readonly<Record<string, string>> = {},
): Promise<string> {
  const name = `c${++made}`;
  const root = kind === 'gcs' ? 'gs://warehouse' : `abfss://warehouse@${AZURITE_ACCOUNT}.dfs.core.windows.net`;
  const endpoints =
    kind === 'gcs'
      ? { endpoint: google.endpoint, 'sts-endpoint': google.endpoint }
      : { endpoint: azurite.endpoint, 'sts-endpoint': entra.endpoint, 'allow-container-sas': 'true' };
  const document = key === null ? null : { document: JSON.stringify({ kind, ...key }) };
  try {
    await catalog.call('CreateCatalog', {
      tenant: 'default',
      name,
      location: `${root}/${name}`,
      bucket: { settings: { ...endpoints, ...settings }, ...(document === null ? {} : { key: document }) },
    });
    const { checks } = await catalog.call<Checks>('CheckCatalog', { name });
    return checks.flatMap(({ problem }) => (problem === '' ? [] : [problem])).join(' | ');
  } catch (error) {
    return (error as Error).message;
  }
}

describe('Google Cloud Storage', () => {
  const account = () => {
    const file = JSON.parse(google.accountFile) as Record<string, string>;
    return { clientEmail: file['client_email'], privateKey: file['private_key'], tokenUri: file['token_uri'] };
  };

  test('an account of Google passes every check', async () => {
    expect(await problemOf('gcs', account())).toBe('');
  });

  test.each([
    ['a file that is none', () => ({ privateKey: 'no key' }), 'no client_email'],
    ['a key that is none', () => ({ ...account(), privateKey: 'no key' }), 'private_key is no RSA key'],
    ['an account that Google does not know', () => ({ ...account(), clientEmail: 'other@x' }), 'invalid_grant'],
    ['settings of another store', () => account(), 'unknown settings: region', { region: 'x' }],
    [
      'a key of another store',
      () => ({ kind: 'adls', accountKey: AZURITE_KEY }),
      'of another store: expected the file of a service account of Google',
    ],
  ])(
    '%s is said in one line, without the secret',
    async (_what, key, expected, settings?: { readonly region: string }) => {
      const problem = await problemOf('gcs', key(), settings ?? {});
      expect(problem).toContain(expected);
      expect(problem).not.toMatch(/\n|PRIVATE|eyJ/);
    },
  );

  test('a clock two hours off is named', async () => {
    google.setClock(7_200_000);
    const problem = await problemOf('gcs', account());
    google.setClock(0);
    expect(problem).toContain('clock is 120 minutes behind the service’s');
  });

  test('a machine of Google’s gives a token, another one none', async () => {
    expect(await problemOf('gcs', null)).toContain('this machine gives the catalog no token for Google’s store');
    google.setMachine(true);
    expect(await problemOf('gcs', null)).toBe('');
    google.setMachine(false);
  });
});

describe('Azure storage', () => {
  const client = { tenantId: TENANT, clientId: CLIENT, clientSecret: SECRET };

  test('a client passes every check by signatures of a user delegation key', async () => {
    expect(await problemOf('adls', client)).toBe('');
  });

  test.each([
    ['a wrong tenant', { ...client, tenantId: 'other' }, 'there is no such tenant'],
    ['a wrong client', { ...client, clientId: 'other' }, 'the tenant has no such client'],
    ['a wrong secret', { ...client, clientSecret: `${SECRET}-2` }, 'the client’s secret is wrong'],
    ['a key that is none', { accountKey: '!' }, 'account_key is not in base64'],
    ['a tenant that is no name', { ...client, tenantId: '../x' }, 'tenant_id is no id or domain of a directory'],
  ])('%s is said in one line, without the secret', async (_what, key, expected) => {
    const problem = await problemOf('adls', key);
    expect(problem).toContain(expected);
    expect(problem).not.toMatch(new RegExp(`\\n|${SECRET}`));
  });

  test('a client without the role for delegation keys is told which role it needs', async () => {
    const problem = await problemOf('adls', client, { endpoint: entra.endpoint });
    expect(problem).toContain(
      `the account ${AZURITE_ACCOUNT} gives no user delegation key: AuthorizationPermissionMismatch: the identity needs a role with generateUserDelegationKey`,
    );
    expect(problem).not.toMatch(new RegExp(`\\n|${SECRET}|eyJ`));
  });

  test('a clock two hours off is named, by whatever the store refuses for it', async () => {
    entra.aheadMs = -7_200_000;
    const problem = await problemOf('adls', { accountKey: AZURITE_KEY }, { endpoint: entra.endpoint });
    const ofClient = await problemOf('adls', client, { endpoint: entra.endpoint });
    entra.aheadMs = 0;
    expect(problem).toContain('403 AuthenticationFailed; this machine’s clock is 120 minutes ahead of the service’s');
    expect(ofClient).toContain('clock is 120 minutes ahead of the service’s');
    expect(problem).not.toContain(AZURITE_KEY);
  });

  test('a machine of Azure’s gives a token, another one none', async () => {
    expect(await problemOf('adls', null)).toContain('this machine gives the catalog no token for Azure’s store');
    entra.isMachine = true;
    expect(await problemOf('adls', null)).toBe('');
  });
});

test.each([
  ['google', 'gcs', 'gs', /^gs:\/\/warehouse\/clients\/named-gcs-[0-9a-f-]{36}$/],
  ['azure', 'adls', 'abfss', /^abfss:\/\/warehouse@\w+\.dfs\.core\.windows\.net\/clients\/named-adls-[0-9a-f-]{36}$/],
])('a client makes a catalog in the place named %s, of the type %s or %s', async (name, kind, scheme, place) => {
  const make = (as: string, type: string) =>
    catalog.rest('POST', '/v1/catalogs', { body: { name: as, 'storage-profile': { name, type } } });
  expect(errorOf(await make('odd', 's3'))).toEqual([
    400,
    'BadRequestException',
    `storage-profile of type s3 is not served: ${kind} is`,
  ]);
  const made = await make(`named-${kind}`, kind);
  expect(made.status, JSON.stringify(made.body)).toBe(200);
  expect(made.body['storage-profile']).toMatchObject({
    type: scheme,
    location: expect.stringMatching(place) as string,
  });
  expect((await make(`named-${scheme}-again`, scheme)).status).toBe(200);
  const { checks } = await catalog.call<Checks>('CheckCatalog', { name: `named-${kind}` });
  expect(checks.filter(({ problem }) => problem !== '')).toEqual([]);
  const told = JSON.stringify([made.body, (await catalog.rest('GET', '/v1/catalogs')).body]);
  for (const secret of [SECRET, 'PRIVATE KEY', folder]) expect(told).not.toContain(secret);
});
