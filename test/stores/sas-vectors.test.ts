import { createRequire } from 'node:module';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from 'vitest';
import { makeSas, timeOf, type AccountKey, type DelegationKey, type SasScope } from '#shared/storage/adls/sas.ts';
import { SERVICE_VERSION } from '#shared/storage/adls/adls-client.ts';
import { NPM_INSTALL_MS, npmFolder } from '#test/support/npm-folder.ts';

/**
 * Azurite refuses signatures of directories, so their proof is Microsoft's own SDK: for the same fields it makes the same query, its signature
 * included, whichever field is another one.
 */

type Values = Readonly<Record<string, unknown>>;
type Permissions = { readonly parse: (text: string) => unknown };
/** The parts of `@azure/storage-file-datalake` and `@azure/storage-blob` that sign. */
type Sdk = {
  readonly generateDataLakeSASQueryParameters: (
    values: Values,
    key: unknown,
    account?: string,
  ) => { toString(): string };
  readonly generateBlobSASQueryParameters: (values: Values, key: unknown, account?: string) => { toString(): string };
  readonly StorageSharedKeyCredential: new (account: string, key: string) => unknown;
  readonly LakeKey: new (account: string, key: string) => unknown;
  readonly DirectorySASPermissions: Permissions;
  readonly ContainerSASPermissions: Permissions;
  readonly BlobSASPermissions: Permissions;
};

let sdk: Sdk;

beforeAll(async () => {
  const modules = await npmFolder('azure-sdk', ['@azure/storage-file-datalake@12.31.0', '@azure/storage-blob@12.34.0']);
  const require = createRequire(join(modules, 'vectors.js'));
  const lake = require(join(modules, '@azure', 'storage-file-datalake')) as Sdk;
  const blob = require(join(modules, '@azure', 'storage-blob')) as Sdk;
  sdk = {
    ...blob,
    generateDataLakeSASQueryParameters: lake.generateDataLakeSASQueryParameters,
    DirectorySASPermissions: lake.DirectorySASPermissions,
    LakeKey: lake.StorageSharedKeyCredential,
  };
}, NPM_INSTALL_MS);

const ACCOUNT_KEY: AccountKey = { kind: 'account', key: Buffer.alloc(64, 7).toString('base64') };
const DELEGATED: DelegationKey = {
  kind: 'delegation',
  objectId: '11111111-2222-3333-4444-555555555555',
  tenantId: 'aaaaaaaa-bbbb-cccc-dddd-eeeeeeeeeeee',
  starts: '2026-11-28T10:00:00Z',
  expires: '2026-11-30T10:00:00Z',
  service: 'b',
  version: SERVICE_VERSION,
  value: Buffer.alloc(32, 9).toString('base64'),
};
const SCOPE: SasScope = {
  account: 'lakehouse',
  container: 'warehouse',
  resource: 'directory',
  path: 'wh/sales/orders-1',
  permissions: 'rl',
  startsAtMs: Date.parse('2026-11-28T12:00:00Z'),
  expiresAtMs: Date.parse('2026-11-28T13:00:00Z'),
  isPlain: false,
};

/** The same signature as the SDK makes it. */
function bySdk(key: AccountKey | DelegationKey, scope: SasScope): string {
  const { account, container, resource, path, permissions, isPlain, answerHeaders } = scope;
  const common = {
    version: SERVICE_VERSION,
    startsOn: new Date(scope.startsAtMs),
    expiresOn: new Date(scope.expiresAtMs),
    protocol: isPlain ? 'https,http' : 'https',
    ...answerHeaders,
  };
  const signer =
    key.kind === 'account'
      ? new sdk.StorageSharedKeyCredential(account, key.key)
      : {
          signedObjectId: key.objectId,
          signedTenantId: key.tenantId,
          signedStartsOn: new Date(key.starts),
          signedExpiresOn: new Date(key.expires),
          signedService: key.service,
          signedVersion: key.version,
          value: key.value,
        };
  if (resource === 'directory') {
    const values = {
      ...common,
      fileSystemName: container,
      pathName: path,
      isDirectory: true,
      directoryDepth: path.split('/').length,
      permissions: sdk.DirectorySASPermissions.parse(permissions),
    };
    // The SDK of lakes has a class of its own for the key of an account.
    const lakeSigner = key.kind === 'account' ? new sdk.LakeKey(account, key.key) : signer;
    return sdk.generateDataLakeSASQueryParameters(values, lakeSigner, account).toString();
  }
  const isObject = resource === 'object';
  const values = {
    ...common,
    containerName: container,
    ...(isObject ? { blobName: path } : {}),
    permissions: (isObject ? sdk.BlobSASPermissions : sdk.ContainerSASPermissions).parse(permissions),
  };
  return sdk.generateBlobSASQueryParameters(values, signer, account).toString();
}

const membersOf = (query: string): object => Object.fromEntries(new URLSearchParams(query));

/** Another value of each field of a scope. */
const OTHERS: readonly (readonly [string, Partial<SasScope>])[] = [
  ['nothing', {}],
  ['the account', { account: 'other' }],
  ['the container', { container: 'other-1' }],
  ['the path', { path: 'wh' }],
  ['a path with odd characters', { path: "a b/ü+&=%2F/it's" }],
  ['a deep path', { path: 'a/b/c/d/e/f/g' }],
  ['the permissions', { permissions: 'racwdl' }],
  ['the beginning', { startsAtMs: SCOPE.startsAtMs + 1_000 }],
  ['the end', { expiresAtMs: SCOPE.expiresAtMs + 61_000 }],
  ['the protocol', { isPlain: true }],
];
const OTHER_KEYS: readonly (readonly [string, Partial<DelegationKey>])[] = [
  ['the object id', { objectId: '99999999-2222-3333-4444-555555555555' }],
  ['the tenant', { tenantId: '99999999-bbbb-cccc-dddd-eeeeeeeeeeee' }],
  ['the key’s beginning', { starts: '2026-11-28T09:00:00Z' }],
  ['the key’s end', { expires: '2026-12-01T10:00:00Z' }],
  ['the key’s service', { service: 'q' }],
  ['the key’s version', { version: '2020-12-06' }],
  ['the key’s value', { value: Buffer.alloc(32, 1).toString('base64') }],
];

describe.each(['container', 'directory', 'object'] as const)('a signature for a %s', (resource) => {
  const scopeOf = (more: Partial<SasScope>): SasScope => ({
    ...SCOPE,
    resource,
    ...more,
    ...(resource === 'container' ? { path: '' } : {}),
    // One object has no list.
    ...(resource === 'object' ? { permissions: (more.permissions ?? SCOPE.permissions).replace('l', '') } : {}),
  });

  test.each(OTHERS)('by a delegation key, with another value of %s, is the SDK’s', (_what, more) => {
    expect(membersOf(makeSas(DELEGATED, scopeOf(more)))).toEqual(membersOf(bySdk(DELEGATED, scopeOf(more))));
  });

  test.each(OTHER_KEYS)('by a delegation key with another value of %s is the SDK’s', (_what, more) => {
    const key = { ...DELEGATED, ...more };
    expect(membersOf(makeSas(key, scopeOf({})))).toEqual(membersOf(bySdk(key, scopeOf({}))));
    const isTold = makeSas(key, scopeOf({})) !== makeSas(DELEGATED, scopeOf({}));
    expect(isTold).toBe(true);
  });

  test.each(OTHERS)('by the account’s key, with another value of %s, is the SDK’s', (_what, more) => {
    expect(membersOf(makeSas(ACCOUNT_KEY, scopeOf(more)))).toEqual(membersOf(bySdk(ACCOUNT_KEY, scopeOf(more))));
  });
});

test('headers of the answer are signed, too', () => {
  const answerHeaders = { contentDisposition: 'attachment; filename="a b"', contentType: 'application/octet-stream' };
  const scope = { ...SCOPE, resource: 'object', permissions: 'r', answerHeaders } as const;
  expect(membersOf(makeSas(DELEGATED, scope))).toEqual(membersOf(bySdk(DELEGATED, scope)));
});

test('a signature says in which time it holds, to the second', () => {
  expect(timeOf(Date.parse('2026-11-28T12:00:00.999Z'))).toBe('2026-11-28T12:00:00Z');
});
