import type { StorageCredential } from '#shared/storage/credential.ts';
import { openStorage } from '#shared/storage/open-storage.ts';
import { inThread } from '#shared/thread/work.ts';
import { READ_MULTI_TABLE_COMMIT } from './multi-table-commit.ts';
import { CREATED_METADATA, NEW_METADATA } from './created-metadata.ts';
import { registerMetadata as register, type Registered, type RegisterInput } from './register-metadata.ts';
import { CHECK_REQUIREMENTS, REFERENCED_ONLY, SWAP_METADATA } from './swap-metadata.ts';

/** The functions of this room that worker threads run on large metadata documents and request bodies. */

export const readLargeMultiTableCommit = inThread(READ_MULTI_TABLE_COMMIT.here);
export const createdMetadata = inThread(CREATED_METADATA.here);
export const newMetadata = inThread(NEW_METADATA.here);
export const swapMetadata = inThread(SWAP_METADATA.here);
export const checkRequirements = inThread(CHECK_REQUIREMENTS.here);
export const referencedOnly = inThread(REFERENCED_ONLY.here);
export const registerMetadata = inThread<RegisterInput & { readonly credential: StorageCredential }, Registered>(
  ({ credential, ...input }) => register(openStorage(input.file, credential), input),
);
