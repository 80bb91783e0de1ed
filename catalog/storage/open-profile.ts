import { SkeinError } from '#shared/error.ts';
import type { SealingKeys } from '#shared/sealing-keys.ts';
import { adlsLocation, adlsPlace } from '#shared/storage/adls/adls-place.ts';
import type { AccessKey, KeyOfFile } from '#shared/storage/key-file.ts';
import type { StorageSettings } from '../metadata/storage-settings.ts';
import type { ProfileRow } from '../store/postgres/profile-store.ts';
import type { AdlsProfile } from './adls-keys.ts';
import type { GcsProfile } from './gcs-keys.ts';
import type { S3Profile } from './s3-keys.ts';

/** Sealed keys of catalogs. */

/** @throws NOT_SUPPORTED for another store */
export const openS3 = (sealing: SealingKeys, profile: ProfileRow): S3Profile => opened(sealing, profile, 's3');
/** @throws NOT_SUPPORTED for another store */
export const openGcs = (sealing: SealingKeys, profile: ProfileRow): GcsProfile => opened(sealing, profile, 'gcs');
/** @throws NOT_SUPPORTED for another store */
export const openAdls = (sealing: SealingKeys, profile: ProfileRow): AdlsProfile => opened(sealing, profile, 'adls');

function opened<Kind extends StorageSettings['kind']>(
  sealing: SealingKeys,
  { catalogId, version, catalog, settings, sealedKey }: ProfileRow,
  kind: Kind,
): {
  readonly id: string;
  readonly catalog: string;
  readonly settings: Extract<StorageSettings, { kind: Kind }>;
  readonly key: Extract<KeyOfFile, { kind: Kind }> | null;
} {
  const key = sealedKey === null ? null : openKey(sealing, sealedKey, ownKeyOwner(catalogId));
  if (!isOf(settings, kind) || (key !== null && !isOf(key, kind))) {
    throw new SkeinError('NOT_SUPPORTED', `catalog ${catalog} lies in another kind of store`);
  }
  return { id: `${catalogId} ${version}`, catalog, settings, key };
}

const isOf = <Of extends { readonly kind: string }, Kind extends string>(
  one: Of,
  kind: Kind,
): one is Extract<Of, { kind: Kind }> => one.kind === kind;

/** The operator's key for engines; null = there is none. */
export function openEngineKey(sealing: SealingKeys, { catalogId, sealedEngineKey }: ProfileRow): AccessKey | null {
  if (sealedEngineKey === null) return null;
  const key = openKey(sealing, sealedEngineKey, engineKeyOwner(catalogId));
  return key.kind === 's3' ? key : null;
}

/** Keys of before there was more than one kind of store are of S3. */
const openKey = (sealing: SealingKeys, sealed: string, owner: string): KeyOfFile => {
  const key = JSON.parse(sealing.open(sealed, owner)) as KeyOfFile | AccessKey;
  return 'kind' in key ? key : { ...key, kind: 's3' };
};

export const sealKey = (sealing: SealingKeys, key: KeyOfFile, owner: string): string =>
  sealing.seal(JSON.stringify(key), owner);

/** The owners to which the sealed keys of a catalog are bound. */
export const ownKeyOwner = (catalogId: string): string => `storage key of catalog ${catalogId}`;
export const engineKeyOwner = (catalogId: string): string => `engine key of catalog ${catalogId}`;

/** The container of a location of Azure's. */
export const containerOf = (location: string): string => adlsLocation({ ...adlsPlace(location), key: '' });
