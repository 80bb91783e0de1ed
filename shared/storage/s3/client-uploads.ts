import type { S3Credential } from '#shared/storage/credential.ts';
import type { ClientUploads } from '#shared/storage/object/client-uploads.ts';
import { xmlUploads } from '#shared/storage/object/xml-uploads.ts';
import { S3Client } from './s3-client.ts';
import { s3Error } from './s3-error.ts';
import { s3Place } from './s3-object.ts';
import { headObject, S3_OWN } from './s3-reads.ts';
import { openUploads } from './s3-uploads.ts';

/** Uploads in parts by clients, in a bucket of S3. */
export function s3ClientUploads(credential: S3Credential): ClientUploads {
  const client = new S3Client(credential);
  return xmlUploads({
    send: (location, request, accepted) => client.send({ ...s3Place(location), ...request }, accepted),
    errorOf: s3Error,
    ownPrefix: S3_OWN,
    writeIdOf: async (location) => (await headObject(client, location))?.writeId,
    openUploads: async (location) => {
      const { bucket, key } = s3Place(location);
      return (await openUploads(client, bucket, key)).filter((one) => one.key === key);
    },
  });
}
