import { unreachable } from '#shared/must.ts';
import { blockUploads } from './adls/block-uploads.ts';
import type { StoreCredential } from './credential.ts';
import { gcsUploads } from './gcs/gcs-uploads.ts';
import type { ClientUploads } from './object/client-uploads.ts';
import { storeKind } from './location.ts';
import { s3ClientUploads } from './s3/client-uploads.ts';
import { presign, type PresignedRequest } from './s3/presign.ts';

/** The uploads of clients in the store of a key. */
export function clientUploads(credential: StoreCredential): ClientUploads {
  switch (credential.kind) {
    case 's3':
      return s3ClientUploads(credential);
    case 'gcs':
      return gcsUploads(credential);
    case 'adls':
      return blockUploads(credential);
    default:
      return unreachable(credential);
  }
}

/** Signs addresses for clients. @param nowMs the time of the signature */
type AddressSigner = (request: PresignedRequest, nowMs: number) => Promise<string>;

/**
 * Signs addresses with a key that opens no more than they do. Undefined where a key signs nothing: tokens and signatures do not.
 * @param endpoint by which clients reach the store
 */
export function addressSigner(credential: StoreCredential, endpoint: string): AddressSigner | undefined {
  if (credential.kind !== 's3') return undefined;
  const key = { ...credential, endpoint };
  return (request, nowMs) => presign(key, request, nowMs);
}

/** Whether the store itself refuses a body of another length than was signed: an address of Azure's holds nobody to it. */
export const holdsBodiesToSize = (location: string): boolean => storeKind(location) !== 'adls';
