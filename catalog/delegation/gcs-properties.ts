import type { GcsCredential } from '#shared/storage/credential.ts';
import type { GcsSettings } from '../metadata/gcs-settings.ts';
import type { Properties } from '../metadata/table-document.ts';

/** Properties of Iceberg's clients of Google Cloud Storage, all of them texts. */

/** How a client reaches the bucket; nothing secret. */
export const gcsPlaceProperties = ({ endpoint, projectId }: GcsSettings): Properties => ({
  ...(projectId === null ? {} : { 'gcs.project-id': projectId }),
  ...(endpoint === null ? {} : { 'gcs.service.host': endpoint }),
});

/** The end has two names: Java reads the first, PyIceberg the second. Both are in milliseconds. */
export const gcsKeyProperties = (
  settings: GcsSettings,
  { token, expiresAtMs }: GcsCredential,
  refresh: string,
): Properties => ({
  ...gcsPlaceProperties(settings),
  'gcs.oauth2.token': token,
  'gcs.oauth2.token-type': 'Bearer',
  ...(expiresAtMs === null
    ? {}
    : {
        'gcs.oauth2.token-expires-at': String(expiresAtMs),
        'gcs.oauth2.token-expires-at-ms': String(expiresAtMs),
      }),
  'gcs.oauth2.refresh-credentials-endpoint': refresh,
});
