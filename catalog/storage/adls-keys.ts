import type { Clock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import { attachmentOf, BYTES_TYPE } from '#shared/stage/attachment.ts';
import { SERVICE_VERSION } from '#shared/storage/adls/adls-client.ts';
import { accountAddress, adlsPlace, blobPath, type AdlsPlace } from '#shared/storage/adls/adls-place.ts';
import { blockId } from '#shared/storage/adls/blocks.ts';
import { makeSas, timeOf, type AccountKey, type DelegationKey, type SasScope } from '#shared/storage/adls/sas.ts';
import type { AdlsCredential } from '#shared/storage/credential.ts';
import type { AzureClient } from '#shared/storage/key-file.ts';
import { readXml, textAt } from '#shared/storage/object/read-xml.ts';
import { escapeUri, type StoreAnswer } from '#shared/storage/object/send-request.ts';
import type { AdlsSettings } from '../metadata/adls-settings.ts';
import type { ObjectRequest, SignedAddress } from './object-request.ts';
import type { KeyPermission } from './session-policy.ts';
import type { KeyWishOfFolders, OpenProfile } from './store-keys.ts';
import { askForToken, FORM, formOf, jsonOf, TokenCache, tokenOf, type BearerToken } from './token-request.ts';

const MICROSOFT = 'https://login.microsoftonline.com';
const RESOURCE = 'https://storage.azure.com/';
/** Life of a delegation key; Azure allows seven days. One that has less than half of it left is replaced. */
const DELEGATION_KEY_MS = 2 * 86_400_000;
/** Signatures and keys count from a little earlier: clocks differ. */
const EARLIER_MS = 15 * 60_000;
/** Signatures of one second differ by the second from which they count: so many that follow refusals. */
const STARTS = 60;

const PERMISSIONS: Readonly<Record<KeyPermission, string>> = { read: 'rl', write: 'racwdl', own: 'racwdl' };

/** Microsoft's names of what people get wrong, without their texts. */
const REASONS: Readonly<Record<string, string>> = {
  AADSTS90002: 'there is no such tenant',
  AADSTS900023: 'there is no such tenant',
  AADSTS700016: 'the tenant has no such client',
  AADSTS7000215: 'the client’s secret is wrong',
  AADSTS7000222: 'the client’s secret has ended',
};

export type AdlsProfile = OpenProfile<AdlsSettings, 'adls'>;
type Key = (AccountKey | DelegationKey) & { readonly expiresAtMs: number };

/** The signatures of catalogs in Azure's store. */
export class AdlsKeys {
  readonly #clock: Clock;
  readonly #metadataUrl: string;
  readonly #tokens: TokenCache<BearerToken>;
  readonly #delegationKeys: TokenCache<Key>;
  /** Keys that stores have refused so far. */
  #refusals = 0;

  /** @param metadataUrl the server that gives this machine its tokens */
  constructor(clock: Clock, metadataUrl: string) {
    this.#clock = clock;
    this.#metadataUrl = metadataUrl;
    this.#tokens = new TokenCache(() => clock.nowMs());
    this.#delegationKeys = new TokenCache(() => clock.nowMs());
  }

  /**
   * A signature for one folder, where the account has folders, else for the container: clients get that only where the operator allows it.
   * One that follows a refusal is another one than all before it, also within a second.
   * @throws STORAGE_ERROR, NOT_SUPPORTED
   */
  async make(
    profile: AdlsProfile,
    { folders, permission, isForClient, lifeMs, isRefused }: KeyWishOfFolders,
  ): Promise<AdlsCredential & { readonly expiresAtMs: number }> {
    const { endpoint, internalEndpoint } = profile.settings;
    const { place, ...reach } = reachOf(profile.settings, { folders, isForClient, permission });
    if (isRefused) this.#refusals += 1;
    const key = await this.#key(profile, place, isRefused);
    const nowMs = this.#clock.nowMs();
    const expiresAtMs = Math.floor(Math.min(nowMs + lifeMs, key.expiresAtMs) / 1_000) * 1_000;
    const { account, container } = place;
    const scope = {
      account,
      container,
      ...reach,
      expiresAtMs,
      permissions: PERMISSIONS[permission],
      startsAtMs: nowMs - EARLIER_MS + (this.#refusals % STARTS) * 1_000,
      isPlain: isPlain(profile.settings),
    };
    return { kind: 'adls', sas: makeSas(key, scope), expiresAtMs, endpoint: internalEndpoint ?? endpoint };
  }

  /**
   * Addresses for some requests, each a signature for one object. It holds nobody to one method, nor to a size: it reads the object, or makes and
   * replaces it. @throws STORAGE_ERROR, NOT_SUPPORTED for a body of one size
   */
  async sign(
    profile: AdlsProfile,
    requests: readonly ObjectRequest[],
    untilMs: number,
  ): Promise<readonly SignedAddress[]> {
    return Promise.all(
      requests.map(async (request) => {
        const { method, location, sizeBytes, part } = request;
        if (sizeBytes !== null && part === null) {
          throw new SkeinError('NOT_SUPPORTED', 'a signature of Azure’s holds nobody to a size');
        }
        const place = adlsPlace(part === null ? location : part.coming);
        const { endpoint } = profile.settings;
        const { sas, expiresAtMs } = await this.#objectSas(profile, place, { request, untilMs });
        const { address, path } = accountAddress(place, endpoint);
        const query = part === null ? '' : `comp=block&blockid=${escapeUri(blockId(part.storeUploadId, part.number))}&`;
        const isWhole = method === 'PUT' && part === null;
        const headers = isWhole ? { 'x-ms-blob-type': 'BlockBlob' } : {};
        return { url: `${address}${path}${blobPath(place)}?${query}${sas}`, headers, expiresAtMs };
      }),
    );
  }

  async #objectSas(
    profile: AdlsProfile,
    place: AdlsPlace,
    { request: { method, location }, untilMs }: { readonly request: ObjectRequest; readonly untilMs: number },
  ): Promise<{ readonly sas: string; readonly expiresAtMs: number }> {
    const key = await this.#key(profile, place);
    const expiresAtMs = Math.floor(Math.min(untilMs, key.expiresAtMs) / 1_000) * 1_000;
    const isRead = method === 'GET';
    const answerHeaders = { contentDisposition: attachmentOf(location), contentType: BYTES_TYPE };
    const sas = makeSas(key, {
      account: place.account,
      container: place.container,
      resource: 'object',
      path: place.key,
      permissions: isRead ? 'r' : 'cw',
      startsAtMs: this.#clock.nowMs() - EARLIER_MS,
      expiresAtMs,
      isPlain: isPlain(profile.settings),
      ...(isRead ? { answerHeaders } : {}),
    });
    return { sas, expiresAtMs };
  }

  async #key(profile: AdlsProfile, place: AdlsPlace, isRefused = false): Promise<Key> {
    const { key } = profile;
    if (key !== null && 'accountKey' in key) return { kind: 'account', key: key.accountKey, expiresAtMs: Infinity };
    const ask = async (): Promise<Key> => {
      const token = await this.#tokens.get(profile.id, () => this.#ask(profile.settings, key), isRefused);
      return this.#delegationKey(profile.settings, place, token);
    };
    return this.#delegationKeys.get(`${profile.id} ${place.account}`, ask, isRefused);
  }

  async #ask({ stsEndpoint }: AdlsSettings, key: AzureClient | null): Promise<BearerToken> {
    if (key === null) {
      const what = 'this machine gives the catalog no token for Azure’s store';
      const query = formOf({ 'api-version': '2018-02-01', resource: RESOURCE });
      const url = `${this.#metadataUrl}/metadata/identity/oauth2/token?${query}`;
      const answer = await askForToken({ method: 'GET', url, headers: { metadata: 'true' } }, { what, reasonOf });
      return tokenOf(answer, what, this.#clock.nowMs());
    }
    const { tenantId, clientId, clientSecret } = key;
    const what = `Azure gives no token to client ${clientId} of tenant ${tenantId}`;
    const url = `${stsEndpoint ?? MICROSOFT}/${tenantId}/oauth2/v2.0/token`;
    const body = formOf({
      grant_type: 'client_credentials',
      client_id: clientId,
      client_secret: clientSecret,
      scope: `${RESOURCE}.default`,
    });
    const answer = await askForToken({ method: 'POST', url, headers: FORM, body }, { what, reasonOf });
    return tokenOf(answer, what, this.#clock.nowMs());
  }

  async #delegationKey(settings: AdlsSettings, place: AdlsPlace, { token }: BearerToken): Promise<Key> {
    const what = `the account ${place.account} gives no user delegation key`;
    const nowMs = this.#clock.nowMs();
    const { address, path } = accountAddress(place, settings.internalEndpoint ?? settings.endpoint);
    const [starts, expires] = [timeOf(nowMs - EARLIER_MS), timeOf(nowMs - EARLIER_MS + DELEGATION_KEY_MS)];
    const answer = await askForToken(
      {
        method: 'POST',
        url: `${address}${path}/?restype=service&comp=userdelegationkey`,
        headers: {
          authorization: `Bearer ${token}`,
          'x-ms-version': SERVICE_VERSION,
          'content-type': 'application/xml',
        },
        body: `<?xml version="1.0" encoding="utf-8"?><KeyInfo><Start>${starts}</Start><Expiry>${expires}</Expiry></KeyInfo>`,
      },
      { what, reasonOf: storeReason },
    );
    return readDelegationKey(answer, what);
  }
}

/** The part of a container that a signature opens. @throws NOT_SUPPORTED */
function reachOf(
  { isHierarchical, allowsContainerSas }: AdlsSettings,
  { folders, isForClient, permission }: Pick<KeyWishOfFolders, 'folders' | 'isForClient' | 'permission'>,
): { readonly place: AdlsPlace } & Pick<SasScope, 'resource' | 'path'> {
  const places = folders.map(adlsPlace);
  const [place] = places;
  const isOther = (one: AdlsPlace): boolean => one.account !== place?.account || one.container !== place.container;
  if (place === undefined || places.some(isOther)) {
    throw new SkeinError('NOT_SUPPORTED', 'the folders of a table lie in several containers');
  }
  if (isHierarchical && places.length === 1 && place.key !== '' && permission !== 'own') {
    return { place, resource: 'directory', path: place.key };
  }
  if (isForClient && !allowsContainerSas) {
    const why = isHierarchical
      ? `a table with ${places.length} folders: a signature opens one`
      : 'the account has no folders, and a signature for the container would open more than the table (--allow-container-sas)';
    throw new SkeinError('NOT_SUPPORTED', why);
  }
  return { place, resource: 'container', path: '' };
}

const isPlain = ({ endpoint, internalEndpoint }: AdlsSettings): boolean =>
  [endpoint, internalEndpoint].some((one) => one?.startsWith('http:') === true);

function readDelegationKey(answer: StoreAnswer, what: string): Key {
  const xml = readXml(answer.body);
  const text = (name: string): string => textAt(xml, 'UserDelegationKey', name) ?? '';
  const expiresAtMs = Date.parse(text('SignedExpiry'));
  if (text('Value') === '' || !(expiresAtMs > 0)) {
    throw new SkeinError('STORAGE_ERROR', `${what}: the answer holds none`);
  }
  return {
    kind: 'delegation',
    objectId: text('SignedOid'),
    tenantId: text('SignedTid'),
    starts: text('SignedStart'),
    expires: text('SignedExpiry'),
    service: text('SignedService'),
    version: text('SignedVersion'),
    value: text('Value'),
    expiresAtMs,
  };
}

function reasonOf(answer: StoreAnswer): string {
  const { error_description: description } = jsonOf(answer);
  const [code = ''] = typeof description === 'string' ? (/^AADSTS\d{1,8}/.exec(description) ?? []) : [];
  return REASONS[code] ?? `${answer.status} ${code}`.trim();
}

function storeReason({ status, headers }: StoreAnswer): string {
  const code = String(headers['x-ms-error-code'] ?? '');
  if (code === 'AuthorizationPermissionMismatch' || code === 'AuthorizationFailure') {
    return `${code}: the identity needs a role with generateUserDelegationKey, such as Storage Blob Data Contributor of the account`;
  }
  return `${status} ${/^\w{1,80}$/.test(code) ? code : ''}`.trim();
}
