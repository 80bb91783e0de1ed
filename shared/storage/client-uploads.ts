import { unreachable } from '#shared/must.ts';
import { blockUploads } from './adls/block-uploads.ts';
import type { StoreCredential } from './credential.ts';
import { gcsUploads } from './gcs/gcs-uploads.ts';
import type { ClientUploads } from './object/client-uploads.ts';
import { s3ClientUploads } from './s3/client-uploads.ts';

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
