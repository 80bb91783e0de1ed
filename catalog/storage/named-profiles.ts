import { randomUUID } from 'node:crypto';
import type { Config } from '#shared/config/config-schema.ts';
import { readStorageProfiles, type StorageProfile } from '#shared/config/storage-profiles.ts';
import { SkeinError } from '#shared/error.ts';
import { must } from '#shared/must.ts';
import type { Logger } from '#shared/log/logger.ts';
import { readKeyFile, type KeyOfFile } from '#shared/storage/key-file.ts';
import { normalizeLocation, storeKind } from '#shared/storage/location.ts';
import { mayUseMachine, readStorageSettings, type StorageSettings } from '../metadata/storage-settings.ts';

/** A place in a bucket for a new catalog, and how it is reached. */
export type NewPlace = {
  readonly location: string;
  readonly settings: StorageSettings;
  readonly key: KeyOfFile | null;
  readonly engineKey: KeyOfFile | null;
};

/** The profiles of `catalog.storage_profiles`, from which clients choose by name. Only the operator knows of their keys and files. */
export class NamedProfiles {
  readonly #profiles: ReadonlyMap<string, StorageProfile>;
  readonly #log: Logger;

  /** @throws INVALID_CONFIGURATION for settings that no bucket has */
  constructor(config: Config, log: Logger) {
    this.#profiles = readStorageProfiles(config['catalog.storage_profiles']);
    this.#log = log;
    for (const [name, profile] of this.#profiles) check(name, profile);
  }

  /**
   * A place of its own for a new catalog below the place of a profile: its UUID makes it unique for ever. The files of keys are read now, and
   * what they hold belongs to the catalog from then on.
   * @throws INVALID_REQUEST when there is no such profile, or not for this tenant; STORAGE_ERROR when a file of keys cannot be read
   */
  placeFor(name: string, { tenant, catalog }: { readonly tenant: string; readonly catalog: string }): NewPlace {
    const profile = this.#profiles.get(name);
    if (profile === undefined || profile.tenants?.includes(tenant) === false) {
      throw new SkeinError('INVALID_REQUEST', `no storage profile is named ${name}`);
    }
    try {
      const keyAt = (file: string | undefined): KeyOfFile | null => (file === undefined ? null : readKeyFile(file));
      return {
        location: `${normalizeLocation(profile.storage)}/${catalog}-${randomUUID()}`,
        settings: settingsOf(profile),
        key: keyAt(profile.credentials),
        engineKey: keyAt(profile.engineCredentials),
      };
    } catch (error) {
      this.#log.error({ err: error, profile: name }, 'a storage profile cannot be used');
      throw new SkeinError('STORAGE_ERROR', `the storage profile ${name} cannot be used: the catalog’s log says why`);
    }
  }
}

function settingsOf({ storage, settings }: StorageProfile): StorageSettings {
  return readStorageSettings(must(storeKind(normalizeLocation(storage)), 'a profile is in a bucket'), settings);
}

function check(name: string, profile: StorageProfile): void {
  try {
    const location = normalizeLocation(profile.storage);
    if (location.slice(location.indexOf('://') + '://'.length).includes('//'))
      throw new SkeinError('INVALID_REQUEST', 'storage has an empty name');
    if (!mayUseMachine(settingsOf(profile)) && profile.credentials === undefined) {
      throw new SkeinError('INVALID_REQUEST', 'it needs a key (credentials)');
    }
  } catch (error) {
    const why = SkeinError.of(error).message;
    throw new SkeinError('INVALID_CONFIGURATION', `catalog.storage_profiles, ${name}: ${why}`, { cause: error });
  }
}
