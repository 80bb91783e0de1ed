import { isAbsolute } from 'node:path';
import { parse } from 'yaml';
import { SkeinError } from '#shared/error.ts';

/** A place in a bucket for catalogs that clients make, as the operator has written it (`catalog.storage_profiles`). */
export type StorageProfile = {
  /** `s3://bucket/prefix`: each catalog gets a prefix of its own below it. */
  readonly storage: string;
  /** Files of keys, read when a catalog is made; absent = as without the flag. */
  readonly credentials?: string;
  readonly engineCredentials?: string;
  /** The tenants that may use it; absent = all. */
  readonly tenants?: readonly string[];
  /** The other settings, by the names of the flags. */
  readonly settings: Readonly<Record<string, string>>;
};

const NAME = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,99}$/;
const PROFILES_MAX = 100;
/** A catalog's prefix, folders and files follow it in a key of 1,024 bytes. */
const STORAGE_BYTES_MAX = 400;
const SETTINGS: ReadonlySet<string> = new Set([
  'flavor',
  'region',
  'endpoint',
  'internal_endpoint',
  'sts_endpoint',
  'path_style',
  'role_arn',
  'external_id',
  'hierarchical',
  'allow_container_sas',
]);
/** How the location of a place in a bucket begins. */
const BUCKET = /^(?:s3[an]?|gs|abfss?|wasbs?):\/\/[^/]+/;

/** Reads `{name: {storage, credentials, ...}}`, as YAML or JSON. The catalog checks the settings. @throws INVALID_CONFIGURATION */
export function readStorageProfiles(text: string): ReadonlyMap<string, StorageProfile> {
  if (text.trim() === '') return new Map();
  const profiles = Object.entries(membersOf(parsed(text), 'names with their settings'));
  if (profiles.length > PROFILES_MAX) throw invalid(`at most ${PROFILES_MAX} profiles`);
  return new Map(profiles.map(([name, members]) => [name, readProfile(name, members)]));
}

/** The text of the setting, which an environment variable can have, too. @throws as `readStorageProfiles` */
export function checkedProfiles(text: string): string {
  readStorageProfiles(text);
  return text.trim();
}

function parsed(text: string): unknown {
  try {
    return parse(text, { schema: 'failsafe' });
  } catch (cause) {
    throw invalid('YAML or JSON', cause);
  }
}

function readProfile(name: string, value: unknown): StorageProfile {
  if (!NAME.test(name)) throw invalid(`a name such as lake, got ${JSON.stringify(name)}`);
  const members = membersOf(value, `the settings of ${name}`);
  const { storage, credentials, engine_credentials: engineCredentials, tenants, ...others } = members;
  const settings: Record<string, string> = {};
  for (const [key, text] of Object.entries(others)) {
    if (!SETTINGS.has(key)) throw invalid(`no member ${key} of ${name}`);
    if (typeof text !== 'string') throw invalid(`a text as ${key} of ${name}`);
    settings[key.replaceAll('_', '-')] = text;
  }
  if (typeof storage !== 'string' || !BUCKET.test(storage) || storage.length > STORAGE_BYTES_MAX) {
    throw invalid(
      `storage of ${name} as s3://bucket/prefix, gs://bucket/prefix or abfss://container@account.dfs.core.windows.net/prefix of at most ${STORAGE_BYTES_MAX} bytes`,
    );
  }
  return {
    storage,
    ...(credentials === undefined ? {} : { credentials: fileOf(name, credentials) }),
    ...(engineCredentials === undefined ? {} : { engineCredentials: fileOf(name, engineCredentials) }),
    ...(tenants === undefined ? {} : { tenants: tenantsOf(name, tenants) }),
    settings,
  };
}

function membersOf(value: unknown, expected: string): Readonly<Record<string, unknown>> {
  if (value === null || typeof value !== 'object' || Array.isArray(value)) throw invalid(expected);
  return value as Readonly<Record<string, unknown>>;
}

/** The processes of a cluster have different working directories. */
function fileOf(name: string, value: unknown): string {
  if (typeof value === 'string' && isAbsolute(value)) return value;
  throw invalid(`absolute paths of the files of keys of ${name}`);
}

function tenantsOf(name: string, value: unknown): readonly string[] {
  const tenants = typeof value === 'string' ? value.split(',').map((one) => one.trim()) : value;
  if (Array.isArray(tenants) && tenants.every((one) => typeof one === 'string' && one !== ''))
    return tenants as string[];
  throw invalid(`names as tenants of ${name}`);
}

const invalid = (expected: string, cause?: unknown): SkeinError =>
  new SkeinError('INVALID_CONFIGURATION', `expected ${expected}`, { cause });
