import type { GcsCredential } from '#shared/storage/credential.ts';
import type { ClientUploads } from '#shared/storage/object/client-uploads.ts';
import { listOpenUploads, xmlUploads } from '#shared/storage/object/xml-uploads.ts';
import { GcsClient, gcsError } from './gcs-client.ts';
import { gcsPlace, objectPath } from './gcs-object.ts';
import { GCS_OWN, headGcsObject } from './gcs-reads.ts';

/** Uploads in parts by clients, in a bucket of Google's: those of its XML API. Skein's own are resumable ones of the JSON API. */
export function gcsUploads(credential: GcsCredential): ClientUploads {
  const client = new GcsClient(credential);
  return xmlUploads({
    send: (location, request, accepted) => client.send({ path: objectPath(gcsPlace(location)), ...request }, accepted),
    errorOf: gcsError,
    ownPrefix: GCS_OWN,
    writeIdOf: async (location) => (await headGcsObject(client, location))?.writeId,
    openUploads: async (location) => {
      const { bucket, key } = gcsPlace(location);
      const found = await listOpenUploads((query) => client.send({ method: 'GET', path: `/${bucket}`, query }), key);
      return found.filter((one) => one.key === key);
    },
  });
}
