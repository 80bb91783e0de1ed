import { createPrivateKey } from 'node:crypto';
import { SignJWT } from 'jose';
import type { Clock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import { attachmentOf, BYTES_TYPE } from '#shared/stage/attachment.ts';
import { presignGcs } from '#shared/storage/gcs/presign.ts';
import type { GcsCredential } from '#shared/storage/credential.ts';
import type { ServiceAccount } from '#shared/storage/key-file.ts';
import type { GcsSettings } from '../metadata/gcs-settings.ts';
import { accessBoundary } from './access-boundary.ts';
import type { ObjectRequest, SignedAddress } from './object-request.ts';
import type { KeyWishOfFolders, OpenProfile } from './store-keys.ts';
import { askForToken, codeOf, FORM, formOf, jsonOf, TokenCache, tokenOf, type BearerToken } from './token-request.ts';

const SCOPE = 'https://www.googleapis.com/auth/cloud-platform';
const GOOGLE_STS = 'https://sts.googleapis.com';
/** Life of an assertion, by which an account asks for a token. */
const ASSERTION_SECONDS = 3_600;
const ACCESS_TOKEN = 'urn:ietf:params:oauth:token-type:access_token';

export type GcsProfile = OpenProfile<GcsSettings, 'gcs'>;

/** The tokens of catalogs in Google's store. */
export class GcsKeys {
  readonly #clock: Clock;
  readonly #metadataUrl: string;
  readonly #tokens: TokenCache<BearerToken>;

  /** @param metadataUrl the server that gives this machine its tokens */
  constructor(clock: Clock, metadataUrl: string) {
    this.#clock = clock;
    this.#metadataUrl = metadataUrl;
    this.#tokens = new TokenCache(() => clock.nowMs());
  }

  /** A token for some folders; the catalog's own opens what its account may. @throws STORAGE_ERROR, NOT_SUPPORTED */
  async make(
    profile: GcsProfile,
    { folders, permission, isRefused }: Omit<KeyWishOfFolders, 'lifeMs' | 'isForClient'>,
  ): Promise<GcsCredential & { readonly expiresAtMs: number }> {
    const { endpoint, internalEndpoint, stsEndpoint } = profile.settings;
    const boundary = permission === 'own' ? undefined : accessBoundary(folders, permission);
    const source = await this.#tokens.get(profile.id, () => this.#ask(profile.key), isRefused);
    const { token, expiresAtMs } =
      boundary === undefined
        ? source
        : await this.#exchange(source, stsEndpoint ?? GOOGLE_STS, JSON.stringify(boundary));
    return { kind: 'gcs', token, expiresAtMs, endpoint: internalEndpoint ?? endpoint };
  }

  /** Addresses for some requests, each for one body where its size is known. @throws NOT_SUPPORTED without an account's own key */
  async sign(
    { key, catalog, settings: { endpoint } }: GcsProfile,
    requests: readonly ObjectRequest[],
    expiresAtMs: number,
  ): Promise<readonly SignedAddress[]> {
    if (key === null) throw new SkeinError('NOT_SUPPORTED', `catalog ${catalog} has no key of a service account`);
    const nowMs = this.#clock.nowMs();
    return Promise.all(
      requests.map(async ({ method, location, sizeBytes, part }) => {
        // Sizes of parts are compared when the upload is completed.
        const headers =
          sizeBytes === null || part !== null ? {} : { 'x-goog-content-length-range': `${sizeBytes},${sizeBytes}` };
        const query = queryOf({ method, location, part });
        const url = await presignGcs(key, { method, location, query, headers, endpoint, expiresAtMs }, nowMs);
        return { url, headers, expiresAtMs };
      }),
    );
  }

  /** The token of an account, or that of this machine. */
  async #ask(key: ServiceAccount | null): Promise<BearerToken> {
    if (key === null) {
      const what = 'this machine gives the catalog no token for Google’s store';
      const url = `${this.#metadataUrl}/computeMetadata/v1/instance/service-accounts/default/token`;
      const headers = { 'metadata-flavor': 'Google' };
      const answer = await askForToken({ method: 'GET', url, headers }, { what, reasonOf });
      return tokenOf(answer, what, this.#clock.nowMs());
    }
    const { clientEmail, privateKey, privateKeyId, tokenUri } = key;
    const what = `Google gives no token to ${clientEmail}`;
    const issuedAt = Math.floor(this.#clock.nowMs() / 1_000);
    const assertion = await new SignJWT({ scope: SCOPE })
      .setProtectedHeader({ alg: 'RS256', typ: 'JWT', ...(privateKeyId === null ? {} : { kid: privateKeyId }) })
      .setIssuer(clientEmail)
      .setAudience(tokenUri)
      .setIssuedAt(issuedAt)
      .setExpirationTime(issuedAt + ASSERTION_SECONDS)
      .sign(createPrivateKey(privateKey));
    const body = formOf({ grant_type: 'urn:ietf:params:oauth:grant-type:jwt-bearer', assertion });
    const answer = await askForToken({ method: 'POST', url: tokenUri, headers: FORM, body }, { what, reasonOf });
    return tokenOf(answer, what, this.#clock.nowMs());
  }

  async #exchange(source: BearerToken, sts: string, options: string): Promise<BearerToken> {
    const what = 'Google gives no token for some folders';
    const body = formOf({
      grant_type: 'urn:ietf:params:oauth:grant-type:token-exchange',
      subject_token_type: ACCESS_TOKEN,
      requested_token_type: ACCESS_TOKEN,
      subject_token: source.token,
      options,
    });
    const answer = await askForToken(
      { method: 'POST', url: `${sts}/v1/token`, headers: FORM, body },
      { what, reasonOf },
    );
    const { access_token: token, expires_in: seconds } = jsonOf(answer);
    // Without a time of its own it ends with the token that it was made of.
    if (typeof token === 'string' && seconds === undefined) return { token, expiresAtMs: source.expiresAtMs };
    const given = tokenOf(answer, what, this.#clock.nowMs());
    return { ...given, expiresAtMs: Math.min(given.expiresAtMs, source.expiresAtMs) };
  }
}

function queryOf({ method, location, part }: Omit<ObjectRequest, 'sizeBytes'>): Readonly<Record<string, string>> {
  if (part !== null) return { partNumber: String(part.number), uploadId: part.storeUploadId };
  if (method === 'PUT') return {};
  return { 'response-content-type': BYTES_TYPE, 'response-content-disposition': attachmentOf(location) };
}

const reasonOf = (answer: Parameters<typeof jsonOf>[0] & { readonly status: number }): string =>
  `${answer.status} ${codeOf(jsonOf(answer)['error'])}`.trim();
