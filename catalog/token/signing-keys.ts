import { randomUUID } from 'node:crypto';
import { errors, exportJWK, generateKeyPair, importJWK, type CryptoKey, type JWK, type JSONWebKeySet } from 'jose';
import type { Clock } from '#shared/clock.ts';
import { must } from '#shared/must.ts';
import { TOKEN_ALGORITHM } from '#shared/authorization/token-claims.ts';
import { deleteKeys, insertKey, listKeys, lockKeys, type StoredKey } from '../store/postgres/key-store.ts';
import type { Database } from '../store/postgres/tables.ts';
import { transact } from '../store/postgres/transact.ts';

/**
 * A new key is published this long before it signs (or half of its life, if that is shorter), so that services that cache the key set know
 * it by then.
 */
const SETTLE_MS = 120_000;
/** Minimum interval between reloads of the keys that tokens with an unknown key id cause. */
const RELOAD_INTERVAL_MS = 1_000;

type LoadedKey = {
  readonly kid: string;
  readonly createdAtMs: number;
  readonly privateKey: CryptoKey;
  readonly publicKey: CryptoKey;
  readonly publicJwk: JWK;
};

/**
 * The keys that sign tokens. A key is replaced at the age `rotationMs`; its public part is published until the longest token that it may
 * have signed has expired.
 */
export class SigningKeys {
  readonly #db: Database;
  readonly #clock: Clock;
  readonly #rotationMs: number;
  readonly #settleMs: number;
  readonly #tokenTtlMaxMs: number;
  #keys: readonly LoadedKey[] = [];
  #loadedAtMs = Number.NEGATIVE_INFINITY;
  #reload: Promise<void> = Promise.resolve();

  constructor(db: Database, clock: Clock, ages: { rotationMs: number; tokenTtlMaxMs: number }) {
    this.#db = db;
    this.#clock = clock;
    this.#rotationMs = ages.rotationMs;
    this.#settleMs = Math.min(SETTLE_MS, ages.rotationMs / 2);
    this.#tokenTtlMaxMs = ages.tokenTtlMaxMs;
  }

  /** Creates a key when there is none young enough, deletes those that no valid token can need, and loads the rest. */
  async rotate(): Promise<void> {
    const nowMs = this.#clock.nowMs();
    const keys = await transact(this.#db, async (tx) => {
      await lockKeys(tx);
      let stored = await listKeys(tx);
      const newest = stored[0];
      if (newest === undefined || nowMs - newest.createdAtMs >= this.#rotationMs) {
        const key = await newKey(nowMs);
        await insertKey(tx, key);
        stored = [key, ...stored];
      }
      const dead = stored.filter((_key, i) => {
        const successor = stored[i - 1];
        return successor !== undefined && nowMs - successor.createdAtMs > this.#settleMs + this.#tokenTtlMaxMs;
      });
      await deleteKeys(
        tx,
        dead.map(({ kid }) => kid),
      );
      return stored.filter((key) => !dead.includes(key));
    });
    await this.#load(keys);
  }

  /** Returns the newest key past its settling time, else the oldest. */
  current(): { readonly kid: string; readonly privateKey: CryptoKey } {
    const nowMs = this.#clock.nowMs();
    const settled = this.#keys.find((key) => nowMs - key.createdAtMs >= this.#settleMs);
    return must(settled ?? this.#keys.at(-1), 'keys are loaded at the start');
  }

  /** Finds a public key by id, for the verifier. @throws JWKSNoMatchingKey of jose */
  async publicKey(kid: string | undefined): Promise<CryptoKey> {
    const known = this.#keys.find((key) => key.kid === kid);
    if (known !== undefined) return known.publicKey;
    const nowMs = this.#clock.nowMs();
    if (nowMs - this.#loadedAtMs >= RELOAD_INTERVAL_MS) {
      this.#loadedAtMs = nowMs;
      this.#reload = listKeys(this.#db).then((keys) => this.#load(keys));
    }
    // Callers that arrive during a reload wait for it.
    await this.#reload;
    const found = this.#keys.find((key) => key.kid === kid);
    if (found === undefined) throw new errors.JWKSNoMatchingKey();
    return found.publicKey;
  }

  /** Returns the public keys as a JSON Web Key Set (RFC 7517). */
  jwks(): JSONWebKeySet {
    return { keys: this.#keys.map(({ publicJwk }) => publicJwk) };
  }

  async #load(stored: readonly StoredKey[]): Promise<void> {
    this.#keys = await Promise.all(stored.map(loadKey));
    this.#loadedAtMs = this.#clock.nowMs();
  }
}

async function newKey(nowMs: number): Promise<StoredKey> {
  const { privateKey } = await generateKeyPair(TOKEN_ALGORITHM, { extractable: true });
  return { kid: randomUUID(), privateJwk: await exportJWK(privateKey), createdAtMs: nowMs };
}

async function loadKey({ kid, privateJwk, createdAtMs }: StoredKey): Promise<LoadedKey> {
  const jwk = privateJwk as JWK;
  const { d: _secret, ...rest } = jwk;
  const publicJwk: JWK = { ...rest, kid, alg: TOKEN_ALGORITHM, use: 'sig' };
  const [privateKey, publicKey] = await Promise.all([
    importJWK(jwk, TOKEN_ALGORITHM),
    importJWK(publicJwk, TOKEN_ALGORITHM),
  ]);
  return {
    kid,
    createdAtMs,
    publicJwk,
    privateKey: privateKey as CryptoKey,
    publicKey: publicKey as CryptoKey,
  };
}
