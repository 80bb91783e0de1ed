import { SkeinError } from '#shared/error.ts';
import { unreachable } from '#shared/must.ts';
import type { StoreCredential } from '#shared/storage/credential.ts';
import type { StorageSettings } from '../metadata/storage-settings.ts';
import type { Properties } from '../metadata/table-document.ts';
import { adlsKeyProperties, adlsPlaceProperties } from './adls-properties.ts';
import { gcsKeyProperties, gcsPlaceProperties } from './gcs-properties.ts';
import { keyProperties, placeProperties } from './s3-properties.ts';

/** How a client reaches the store of a location; nothing secret. */
export function storeProperties(settings: StorageSettings, location: string): Properties {
  switch (settings.kind) {
    case 's3':
      return placeProperties(settings);
    case 'gcs':
      return gcsPlaceProperties(settings);
    case 'adls':
      return adlsPlaceProperties(settings, location);
    default:
      return unreachable(settings);
  }
}

/** The same with a key. @param refresh path of the credentials of the table, relative to the address of the catalog */
export function storeKeyProperties(
  settings: StorageSettings,
  key: StoreCredential,
  at: { readonly location: string; readonly refresh: string },
): Properties {
  const { kind } = settings;
  if (kind === 's3' && key.kind === kind) return keyProperties(settings, key, at.refresh);
  if (kind === 'gcs' && key.kind === kind) return gcsKeyProperties(settings, key, at.refresh);
  if (kind === 'adls' && key.kind === kind) return adlsKeyProperties(settings, key, at);
  throw new SkeinError('INTERNAL_ERROR', 'the key of a table is of another kind of store');
}
