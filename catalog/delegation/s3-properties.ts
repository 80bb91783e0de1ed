import type { S3Credential } from '#shared/storage/credential.ts';
import type { S3Settings } from '../metadata/s3-settings.ts';
import type { Properties } from '../metadata/table-document.ts';

/** Properties of Iceberg's S3 clients, all of them texts. Both names of the region are there: clients read one or the other. */

/** How a client reaches the bucket; nothing secret. */
export const placeProperties = ({ region, endpoint, pathStyle }: S3Settings): Properties => ({
  's3.region': region,
  'client.region': region,
  's3.path-style-access': String(pathStyle),
  ...(endpoint === null ? {} : { 's3.endpoint': endpoint }),
});

/** @param refresh path of the credentials of the table, relative to the address of the catalog */
export const keyProperties = (
  settings: S3Settings,
  { accessKeyId, secretAccessKey, sessionToken, expiresAtMs }: S3Credential,
  refresh: string,
): Properties => ({
  ...placeProperties(settings),
  's3.access-key-id': accessKeyId,
  's3.secret-access-key': secretAccessKey,
  ...(sessionToken === null ? {} : { 's3.session-token': sessionToken }),
  ...(expiresAtMs === null ? {} : { 's3.session-token-expires-at-ms': String(expiresAtMs) }),
  'client.refresh-credentials-endpoint': refresh,
});
