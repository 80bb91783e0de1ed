import { findClient, findClientBySecret, type ClientRow } from '../store/postgres/client-store.ts';
import type { Database } from '../store/postgres/tables.ts';
import { sameDigest, sha256 } from '../token/secret.ts';

/** A digest that no secret has. An unknown client is compared with it, so that it costs the same comparisons as a known one. */
const NO_DIGEST = Buffer.alloc(32);
/** Maximum length of an id or secret of ours; longer texts are refused unread. */
const LENGTH_MAX = 200;
// oxlint-disable-next-line no-control-regex -- Postgres stores no NUL, and no id holds any of these
const UNPRINTABLE = /[^\u0020-\u007E]/;

/**
 * Returns the client whose current secret this is, or whose previous one within the overlap after a rotation; undefined when there is none.
 * Without an id the secret alone identifies the client. The principal may be suspended: the caller checks that.
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
