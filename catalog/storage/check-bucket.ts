import { randomUUID } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import type { StorageCredential } from '#shared/storage/credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import type { Storage } from '#shared/storage/storage.ts';
import { S3Client } from '#shared/storage/s3/s3-client.ts';
import { StoreError, storageError } from '#shared/storage/object/store-error.ts';
import { s3Place } from '#shared/storage/s3/s3-object.ts';
import { normalizeLocation, storeKind } from '#shared/storage/location.ts';
import type { Storages } from './storages.ts';

/** One check of a bucket; `problem` null = it passed. */
export type BucketCheck = { readonly name: string; readonly problem: string | null };

type Check = readonly [name: string, run: () => Promise<unknown>];

/** More than one part. */
const LARGE_BYTES = 17 * 2 ** 20;

/**
 * Tries what a catalog needs of its bucket, in a folder of its own, which is deleted afterwards; and what temporary keys must be refused.
 * Each check says by itself how it went.
 */
export async function checkBucket(
  storages: Storages,
  {
    root,
    hasTemporaryKeys,
    isOfFolders,
    tenant,
  }: {
    readonly root: string;
    readonly hasTemporaryKeys: boolean;
    /** A temporary key opens a folder, and not all that the bucket holds. */
    readonly isOfFolders: boolean;
    readonly tenant: string;
  },
): Promise<readonly BucketCheck[]> {
  const folder = `${root}/.check-${randomUUID()}`;
  const own = await storages.open(root);
  const vend = (permission: 'read' | 'write'): Promise<StorageCredential> =>
    storages.vend({ folders: [`${folder}/t`], permission, tenant });
  const isOfS3 = storeKind(normalizeLocation(root)) === 's3';
  const writer = hasTemporaryKeys ? () => vend('write') : () => storages.credential(root);
  const checks = [
    ...ownChecks(own, folder),
    ...(isOfS3 ? [[UNSIGNED_COPY, async () => requireNoUnsignedCopy(await writer(), folder)] as const] : []),
    ...(hasTemporaryKeys ? keyChecks(folder, vend) : []),
    ...(hasTemporaryKeys && isOfFolders ? borderChecks(folder, vend) : []),
  ];
  const results: BucketCheck[] = [];
  try {
    for (const [name, run] of checks) results.push({ name, problem: await problemOf(run) });
  } finally {
    // With a key that may not delete, the objects stay.
    await removeAll(own, folder).catch(() => undefined);
  }
  return results;
}

async function removeAll(storage: Storage, folder: string): Promise<void> {
  for await (const files of storage.list(folder)) await storage.remove(files);
}

const problemOf = (run: () => Promise<unknown>): Promise<string | null> =>
  run().then(
    () => null,
    (error: unknown) => SkeinError.of(error).message,
  );

const ownChecks = (storage: Storage, folder: string): readonly Check[] => [
  ['list', async () => Array.fromAsync(storage.list(folder))],
  ['write', async () => storage.write(`${folder}/t/one`, Buffer.from('one'))],
  ['read', async () => requireText(await storage.read(`${folder}/t/one`, 10), 'one')],
  [
    'the second conditional write is refused',
    async () => refused(storage.write(`${folder}/t/one`, Buffer.from('two'))),
  ],
  ['multipart', async () => storage.writeStream(`${folder}/t/large`, zeros(LARGE_BYTES))],
  ['copy', async () => storage.place(`${folder}/t/large`, `${folder}/t/copied`)],
  ['write beside', async () => storage.write(`${folder}/t2/one`, Buffer.from('beside'))],
  [
    'delete',
    async () => {
      await storage.remove([`${folder}/t/copied`]);
      if (await storage.exists(`${folder}/t/copied`))
        throw new SkeinError('STORAGE_ERROR', 'the object is still there');
    },
  ],
];

type Vend = (permission: 'read' | 'write') => Promise<StorageCredential>;

const opener =
  (folder: string, vend: Vend) =>
  async (permission: 'read' | 'write'): Promise<Storage> =>
    openStorage(folder, await vend(permission));

function keyChecks(folder: string, vend: Vend): readonly Check[] {
  const open = opener(folder, vend);
  return [
    ['temporary key: read', async () => (await open('read')).read(`${folder}/t/one`, 10)],
    ['temporary key: list', async () => Array.fromAsync((await open('read')).list(`${folder}/t`))],
    ['temporary key: write', async () => (await open('write')).write(`${folder}/t/two`, Buffer.from('two'))],
    [
      'refused: a write with a key that reads',
      async () => refused((await open('read')).write(`${folder}/t/x`, NOTHING)),
    ],
  ];
}

function borderChecks(folder: string, vend: Vend): readonly Check[] {
  const open = opener(folder, vend);
  return [
    ['refused: a read beside its folder', async () => refused((await open('write')).read(`${folder}/t2/one`, 10))],
    ['refused: a list of the parent', async () => refused(Array.fromAsync((await open('write')).list(folder)))],
    ['refused: a write beside its folder', async () => refused((await open('write')).write(`${folder}/t2/x`, NOTHING))],
    [
      'refused: a copy of what lies beside',
      async () => refused((await open('write')).place(`${folder}/t2/one`, `${folder}/t/taken`)),
    ],
  ];
}

/** The check whose outcome decides whether requests to write are signed for clients of a store without temporary keys. */
export const UNSIGNED_COPY = 'refused: a copy whose source was not signed';

/** A client can add headers to a request that was signed for it. @throws STORAGE_ERROR when the store obeys them */
async function requireNoUnsignedCopy(credential: StorageCredential, folder: string): Promise<void> {
  if (credential.kind !== 's3') return;
  const { bucket, key } = s3Place(folder);
  const client = new S3Client(credential);
  const unsigned = { 'x-amz-copy-source': `/${bucket}/${key}/t2/one` };
  const stolen = { bucket, key: `${key}/t/stolen` };
  try {
    await client.send({ ...stolen, method: 'PUT', body: NOTHING, unsigned });
  } catch (error) {
    if (error instanceof StoreError && error.status < 500) return;
    throw storageError(folder, error);
  }
  const { body } = await client.send({ ...stolen, method: 'GET' });
  // A store that takes no notice of the header has written the empty body.
  if (body.length > 0) throw new SkeinError('STORAGE_ERROR', 'it was not refused');
}

const NOTHING = new Uint8Array();

async function* zeros(bytes: number): AsyncGenerator<Uint8Array> {
  const chunk = new Uint8Array(2 ** 20);
  for (let at = 0; at < bytes; at += chunk.length) yield await Promise.resolve(chunk);
}

/** @throws unless the work fails with an error of the storage */
async function refused(work: Promise<unknown>): Promise<void> {
  const problem = await work.then(
    () => 'it was not refused',
    (error: unknown) => {
      const { code, message } = SkeinError.of(error);
      return code === 'STORAGE_ERROR' ? null : message;
    },
  );
  if (problem !== null) throw new SkeinError('STORAGE_ERROR', problem);
}

function requireText(bytes: Uint8Array, expected: string): void {
  if (Buffer.from(bytes).toString() !== expected)
    throw new SkeinError('STORAGE_ERROR', 'the store gave other bytes than were written');
}
