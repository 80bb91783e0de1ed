import { unreachable } from '#shared/must.ts';
import type { KeyOfFile } from '#shared/storage/key-file.ts';
import type { StoreKind } from '#shared/storage/location.ts';
import { readAdlsSettings, type AdlsSettings } from './adls-settings.ts';
import { readGcsSettings, type GcsSettings } from './gcs-settings.ts';
import { hasSts, readS3Settings, type S3Settings } from './s3-settings.ts';
import { invalidSetting, type GivenSettings } from './setting-reader.ts';

/** How the bucket of a catalog is reached; no secret. */
export type StorageSettings = S3Settings | GcsSettings | AdlsSettings;

/** Settings as they are stored: those of before there was more than one kind of store are of S3. */
export const storedSettings = (stored: StorageSettings | Omit<S3Settings, 'kind'>): StorageSettings =>
  'kind' in stored ? stored : { ...stored, kind: 's3' };

/**
 * Reads the settings of a request over those that a catalog has. An empty text takes a setting back.
 * @throws INVALID_REQUEST
 */
export function readStorageSettings(kind: StoreKind, given: GivenSettings, before?: StorageSettings): StorageSettings {
  const others = (): never => {
    throw invalidSetting('it is of another kind of store');
  };
  switch (kind) {
    case 's3':
      return readS3Settings(given, before === undefined || before.kind === kind ? before : others());
    case 'gcs':
      return readGcsSettings(given, before === undefined || before.kind === kind ? before : others());
    case 'adls':
      return readAdlsSettings(given, before === undefined || before.kind === kind ? before : others());
    default:
      return unreachable(kind);
  }
}

/** The settings as a new key has them: Google's says which project it is of. */
export const settingsWithKey = (settings: StorageSettings, key: KeyOfFile | null): StorageSettings =>
  settings.kind === 'gcs' && key?.kind === 'gcs' ? { ...settings, projectId: key.projectId } : settings;

/** Whether the store gives clients keys that are limited to a table; with `--allow-container-sas` to its container. */
export function givesTableKeys(settings: StorageSettings): boolean {
  switch (settings.kind) {
    case 's3':
      return hasSts(settings);
    case 'gcs':
      return true;
    case 'adls':
      return settings.isHierarchical || settings.allowsContainerSas;
    default:
      return unreachable(settings);
  }
}

/** Whether a key for some folders of one table opens these and no more. A signature of Azure's opens one folder, or all of a container. */
export const opensFoldersOnly = (settings: StorageSettings, folders: number): boolean =>
  settings.kind !== 'adls' || (settings.isHierarchical && folders === 1);

/** Whether single requests are signed for clients (`.../sign`), and copies whose source nobody has signed matter: the protocol is S3's. */
export const signsForClients = (settings: StorageSettings): settings is S3Settings => settings.kind === 's3';

/** The store as a list of catalogs names it. */
export const storeNames = (settings: StorageSettings): { readonly flavor: string; readonly region: string } =>
  settings.kind === 's3' ? { flavor: settings.flavor, region: settings.region } : { flavor: settings.kind, region: '' };

/** Whether the machine on which the catalog runs may have a key for the store: then the catalog needs none of its own. */
export const mayUseMachine = (settings: StorageSettings): boolean =>
  settings.kind !== 's3' || settings.flavor === 'aws';
