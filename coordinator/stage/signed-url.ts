import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import type { Keyring } from '#shared/keyring.ts';
import { openText, sealText } from '#shared/sealed-text.ts';

/**
 * The coordinator's own signed URLs: the right to one request, for one file of a stage, until a time. Whoever has the URL may use it, for the
 * principal that asked for it; it ends with the principal's session epoch, too. What the URL allows, and for whom, is sealed in its
 * signature: a URL is passed on and stands in the logs of proxies, and nobody there learns the roles and scopes of its principal.
 */
export type SignedRequest = {
  readonly method: 'PUT' | 'GET';
  readonly stageId: string;
  /** Path of the file, in the stage. The path of the URL has it, too, so that people can read it. */
  readonly path: string;
  readonly principal: Principal;
  readonly expiresAtMs: number;
  /** Set for a part of an upload. */
  readonly part?: { readonly uploadId: string; readonly number: number };
  /** Bytes that the body must have. */
  readonly sizeBytes?: number;
};

/** The path below which all signed URLs lie. */
export const FILES_PATH = '/v1/stages/files';

/** A URL with the request sealed in it. @param base URL of the coordinator, without a slash at its end */
export function signUrl(request: SignedRequest, base: string, keyring: Keyring): string {
  const path = request.path.split('/').map(encodeURIComponent).join('/');
  return `${base}${FILES_PATH}/${path}?signature=${sealText(JSON.stringify(request), keyring)}`;
}

/**
 * The request that a URL was signed for.
 * @throws URL_NOT_VALID when it is not signed by this cluster, for another method or path, or has expired
 */
export function verifyUrl(
  signature: string,
  used: { readonly method: string; readonly path: string },
  { keyring, nowMs }: { readonly keyring: Keyring; readonly nowMs: number },
): SignedRequest {
  const verified = openText(signature, keyring);
  if ('problem' in verified) throw notValid(verified.problem);
  const request = JSON.parse(verified.text) as SignedRequest;
  if (request.method !== used.method) throw notValid(`is for ${request.method}, not for ${used.method.slice(0, 20)}`);
  if (request.path !== used.path) throw notValid('is for another path');
  if (request.expiresAtMs <= nowMs) throw notValid(`has expired at ${new Date(request.expiresAtMs).toISOString()}`);
  return request;
}

const notValid = (problem: string): SkeinError => new SkeinError('URL_NOT_VALID', `the URL ${problem}`);
