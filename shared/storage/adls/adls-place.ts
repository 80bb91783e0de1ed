import { SkeinError } from '#shared/error.ts';
import { normalizeLocation } from '#shared/storage/location.ts';
import { escapeUri } from '#shared/storage/object/send-request.ts';

/** An object's place: the key is taken byte for byte as the location spells it. */
export type AdlsPlace = {
  readonly account: string;
  /** Follows `dfs` or `blob` in the account’s hosts: `core.windows.net`, or that of a cloud of its own. */
  readonly suffix: string;
  readonly container: string;
  readonly key: string;
};

const ADLS_LOCATION = /^abfss:\/\/([^/@]+)@([^/.]+)\.dfs\.([^/]+)(?:\/(.*))?$/s;
/** Characters of a name, as Azure allows. */
const KEY_LENGTH_MAX = 1_024;

/** @throws NOT_SUPPORTED for another scheme, INVALID_REQUEST for a name that no object has */
export function adlsPlace(location: string): AdlsPlace {
  const match = ADLS_LOCATION.exec(normalizeLocation(location));
  if (match === null) throw new SkeinError('NOT_SUPPORTED', `not a location in a container of Azure’s: ${location}`);
  const [, container = '', account = '', suffix = '', key = ''] = match;
  if (key.length > KEY_LENGTH_MAX || key.includes('\\') || (key !== '' && key.split('/').some(isChanged))) {
    throw new SkeinError('INVALID_REQUEST', `a name that no object of Azure’s has: ${location}`);
  }
  return { account, suffix, container, key };
}

/**
 * Whether Azure takes a name for another one: it takes dots away at the end of a name, and where the account has folders, empty names, so that
 * `a//b` is `a/b` there, which was compared with the folders of other tables as another place. It reads a backslash as a slash.
 */
const isChanged = (name: string): boolean => name === '' || name.endsWith('.');

export const adlsLocation = ({ account, suffix, container, key }: AdlsPlace): string =>
  `abfss://${container}@${account}.dfs.${suffix}/${key}`;

/**
 * The address of an account, and what stands before its containers in a path: an emulator has the account there, and not in the host.
 * @param endpoint null = that of the account's name
 */
export function accountAddress(
  { account, suffix }: Pick<AdlsPlace, 'account' | 'suffix'>,
  endpoint: string | null,
): { readonly address: string; readonly path: string } {
  if (endpoint === null) return { address: `https://${account}.blob.${suffix}`, path: '' };
  return { address: endpoint, path: new URL(endpoint).hostname.startsWith(`${account}.`) ? '' : `/${account}` };
}

/** The path of a container, or of an object in it, below the account's. */
export const blobPath = ({ container, key }: Pick<AdlsPlace, 'container' | 'key'>): string =>
  `/${container}${key === '' ? '' : `/${key.split('/').map(escapeUri).join('/')}`}`;
