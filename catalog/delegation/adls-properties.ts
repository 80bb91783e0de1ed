import { accountAddress, adlsPlace } from '#shared/storage/adls/adls-place.ts';
import type { AdlsCredential } from '#shared/storage/credential.ts';
import type { AdlsSettings } from '../metadata/adls-settings.ts';
import type { Properties } from '../metadata/table-document.ts';

/** Properties of Iceberg's clients of Azure's storage, all of them texts. */

/** How a client reaches the account; nothing secret. */
export function adlsPlaceProperties({ endpoint }: AdlsSettings, location: string): Properties {
  const place = adlsPlace(location);
  const { address, path } = accountAddress(place, endpoint);
  return { 'adls.account-name': place.account, 'adls.account-host': `${new URL(address).host}${path}` };
}

/**
 * The signature has the names that clients of all kinds look for, the bare one first: an old PyIceberg takes the first name that begins so for
 * the account, and stops at the end of one if the bare one is missing.
 */
export function adlsKeyProperties(
  settings: AdlsSettings,
  { sas, expiresAtMs }: AdlsCredential,
  { location, refresh }: { readonly location: string; readonly refresh: string },
): Properties {
  const { account, suffix } = adlsPlace(location);
  const holders = ['', `.${account}`, `.${account}.dfs.${suffix}`, `.${account}.blob.${suffix}`];
  const named = (name: string, value: string): Properties =>
    Object.fromEntries(holders.map((holder) => [`${name}${holder}`, value]));
  return {
    ...adlsPlaceProperties(settings, location),
    ...named('adls.sas-token', sas),
    ...(expiresAtMs === null ? {} : named('adls.sas-token-expires-at-ms', String(expiresAtMs))),
    'adls.refresh-credentials-endpoint': refresh,
  };
}
