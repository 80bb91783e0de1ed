import { findClient, findClientBySecret, type ClientRow } from '../store/postgres/client-store.ts';
import type { Database } from '../store/postgres/tables.ts';
import { sameDigest, sha256 } from '../token/secret.ts';

/** What no secret hashes to: an unknown client takes the same comparisons as a known one. */
const NO_DIGEST = Buffer.alloc(32);
/** Longer texts are no id or secret of ours. */
const LENGTH_MAX = 200;
// oxlint-disable-next-line no-control-regex -- Postgres stores no NUL, and no id holds any of these
const UNPRINTABLE = /[^\u0020-\u007E]/;

/**
 * The client whose secret this is, or was until its last rotation while that one still opens; undefined when there is none. Without an id
 * the secret alone finds it. The principal may be suspended: the caller looks.
 */
export async function authenticateClient(
  db: Database,
  credentials: { readonly clientId: string | undefined; readonly secret: string },
  nowMs: number,
): Promise<ClientRow | undefined> {
  const { clientId, secret } = credentials;
  if ([clientId ?? '', secret].some((text) => text.length > LENGTH_MAX || UNPRINTABLE.test(text))) return undefined;
  const digest = sha256(secret);
  const client = clientId === undefined ? await findClientBySecret(db, digest) : await findClient(db, clientId);
  const current = sameDigest(digest, client?.secretSha256 ?? NO_DIGEST);
  const previous = sameDigest(digest, client?.previous?.sha256 ?? NO_DIGEST);
  const previousOpens = previous && (client?.previous?.untilMs ?? 0) > nowMs;
  return current || previousOpens ? client : undefined;
}
