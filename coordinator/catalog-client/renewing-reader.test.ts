import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import type { TableReader } from '#shared/iceberg/table-reader.ts';
import { tenantId } from '#shared/id.ts';
import { fileCredential, type S3Credential } from '#shared/storage/credential.ts';
import { StoreError, storageError } from '#shared/storage/object/store-error.ts';
import { RenewingReader } from './renewing-reader.ts';

const key = (accessKeyId: string): S3Credential => ({
  kind: 's3',
  accessKeyId,
  secretAccessKey: 'secret',
  sessionToken: 'token',
  expiresAtMs: null,
  region: 'us-east-1',
  endpoint: null,
  pathStyle: false,
  reach: { folders: ['s3://bucket/t'], writes: false },
});

const refused = storageError('s3://bucket/t/list.avro', new StoreError(403, 'ExpiredToken'));
/** The same where the clock is wrong, too. */
const late = new SkeinError(
  'STORAGE_ERROR',
  'cannot access abfss://c@a.dfs.core.windows.net/t/list.avro: 403 AuthenticationFailed; this machine’s clock is 9 minutes ahead of the service’s',
);
/** As it comes from another thread. */
const sent = SkeinError.fromData(refused.toData());

type Numbers = Parameters<TableReader['numbers']>[0];
type Orphans = Parameters<TableReader['orphans']>[0];
const CALL = { tableName: 'c.s.t', signal: new AbortController().signal };

/**
 * A reader that fails for keys, and notes those that it was given.
 * @param portions what it gives before it fails @param others the keys that come in place of refused ones
 */
function reading(
  fails: (credential: unknown) => unknown,
  portions: readonly string[] = [],
  others: readonly string[] = ['second', 'third', 'fourth'],
) {
  const keys: unknown[] = [];
  const renewed: string[] = [];
  const attempt = (credential: Numbers['credential']): void => {
    const id = credential.kind === 's3' ? credential.accessKeyId : credential.kind;
    keys.push(id);
    const error = fails(id);
    if (error !== undefined) throw error;
  };
  const reader = {
    numbers: async ({ credential }: Numbers) => {
      attempt(credential);
      return await Promise.resolve('numbers');
    },
    async *orphans({ credential }: Orphans) {
      for (const portion of portions) yield await Promise.resolve([portion]);
      attempt(credential);
      yield ['all'];
    },
  } as unknown as TableReader;
  const renewKey = (tenant: string, { accessKeyId }: S3Credential): Promise<S3Credential> => {
    renewed.push(`${tenant} ${accessKeyId}`);
    return Promise.resolve(key(others[renewed.length - 1] ?? 'none'));
  };
  return { tables: new RenewingReader(reader, { renewKey }), keys, renewed };
}

const request = (credential: Numbers['credential']): Numbers & Orphans =>
  ({ tenant: tenantId('acme'), credential }) as Numbers & Orphans;

test.each([refused, sent, late])('a read whose key is refused is done once more, with another key', async (error) => {
  const { tables, keys, renewed } = reading((id) => (id === 'first' ? error : undefined));
  expect(await tables.numbers(request(key('first')), CALL)).toBe('numbers');
  expect([keys, renewed]).toEqual([['first', 'second'], ['acme first']]);
  const others = reading((id) => (id === 'first' ? error : undefined));
  expect(await Array.fromAsync(others.tables.orphans(request(key('first')), CALL))).toEqual([['all']]);
});

test('where the other key is an older one, which is refused, too, the read is done by a third', async () => {
  const fails = (id: unknown): unknown => (id === 'third' ? undefined : refused);
  const { tables, keys, renewed } = reading(fails);
  expect(await tables.numbers(request(key('first')), CALL)).toBe('numbers');
  expect([keys, renewed]).toEqual([
    ['first', 'second', 'third'],
    ['acme first', 'acme second'],
  ]);
  expect(await Array.fromAsync(reading(fails).tables.orphans(request(key('first')), CALL))).toEqual([['all']]);
});

test('a read is not done again with the key that was refused', async () => {
  const { tables, keys } = reading(() => refused, [], ['first']);
  await expect(tables.numbers(request(key('first')), CALL)).rejects.toBe(refused);
  expect(keys).toEqual(['first']);
});

test.each([
  ['whose other keys are refused, too', key('first'), refused, 3],
  [
    'that fails for another reason',
    key('first'),
    storageError('s3://bucket/t/a', new StoreError(403, 'AccessDenied')),
    1,
  ],
  ['that names a code in a location', key('first'), new SkeinError('STORAGE_ERROR', 'a: 403 ExpiredToken is no b'), 1],
  ['whose key nobody renews', { ...key('first'), reach: undefined } as unknown as S3Credential, refused, 1],
  ['of local files', fileCredential('file:///'), refused, 1],
])('a read %s fails', async (_what, credential, error, reads) => {
  const { tables, keys } = reading(() => error);
  await expect(tables.numbers(request(credential), CALL)).rejects.toBe(error);
  expect(keys).toHaveLength(reads);
});

test('what has given a portion is not read again', async () => {
  const { tables, keys } = reading((id) => (id === 'first' ? refused : undefined), ['one']);
  await expect(Array.fromAsync(tables.orphans(request(key('first')), CALL))).rejects.toBe(refused);
  expect(keys).toEqual(['first']);
});
