import { randomUUID } from 'node:crypto';
import type { Kysely } from 'kysely';
import { LRUCache } from 'lru-cache';
import { CONSOLE_CLIENT } from '#shared/config/sign-in-redirect.ts';
import { SkeinError } from '#shared/error.ts';
import type { Keyring } from '#shared/keyring.ts';
import { memoryUses } from '#shared/memory-uses.ts';
import { openText, sealText } from '#shared/sealed-text.ts';
import type { PersonCalls, PersonTokens, ShownCode } from '../../catalog-client/person-calls.ts';
import { changeConsoleSignIn, insertConsoleSignIn } from '../../history/console-sign-ins.ts';
import type { HistoryDatabase } from '../../history/history-database.ts';

/** Part of a token's time after which the next one is fetched. */
const RENEWED_AFTER = 0.8;
/** Sign-ins whose tokens are remembered; beyond it the database is asked for the one that was used least recently. */
const REMEMBERED_MAX = 10_000;
const purpose = (id: string): string => `tokens of the console's sign-in ${id}`;

/** The tokens of a sign-in, and when the next ones are due. */
type Held = PersonTokens & { readonly renewAtMs: number };

type Parts = {
  readonly database: Kysely<HistoryDatabase>;
  readonly catalog: Pick<PersonCalls, 'redeemCode' | 'renewSignIn' | 'revokeSignIn'>;
  readonly keyring: Keyring;
  readonly nowMs: () => number;
};

/**
 * People who have signed in at the catalog's page. Their tokens lie sealed in the coordinators' schema: a refresh token is good once, so it
 * cannot be in a cookie, which several windows show at once. One request renews, under the row's lock. Does this process end between the
 * catalog's answer and the commit, the person signs in again: the former refresh token is used up.
 */
export class PersonSignIns {
  readonly #parts: Parts;
  readonly #uses = memoryUses('console_sign_ins');
  readonly #held = new LRUCache<string, Held>({ max: REMEMBERED_MAX });
  /** Questions that are under way: a sign-in has one connection to the database, however many windows ask. */
  readonly #asked = new Map<string, Promise<Held>>();

  constructor(parts: Parts) {
    this.#parts = parts;
  }

  /** Begins a sign-in by the code that a browser has brought. @throws UNAUTHENTICATED, TOO_MANY_SIGN_INS, CATALOG_UNAVAILABLE */
  async begin(shown: Omit<ShownCode, 'clientId'>): Promise<{ readonly id: string; readonly endsAtMs: number }> {
    const { catalog, database, nowMs } = this.#parts;
    const held = this.#due(await catalog.redeemCode({ ...shown, clientId: CONSOLE_CLIENT }));
    const id = randomUUID();
    const row = { id, sealed: this.#seal(id, held), endsAt: new Date(held.endsAtMs) };
    await insertConsoleSignIn(database, row, new Date(nowMs()));
    this.#held.set(id, held);
    return { id, endsAtMs: held.endsAtMs };
  }

  /** The access token of a sign-in; it is renewed when its time comes. @throws UNAUTHENTICATED when the sign-in has ended */
  async tokenOf(id: string): Promise<string> {
    const known = this.#uses.of(this.#held.get(id));
    if (known !== undefined && known.renewAtMs > this.#parts.nowMs()) return known.token;
    const asked = this.#asked.get(id) ?? this.#ask(id).finally(() => this.#asked.delete(id));
    this.#asked.set(id, asked);
    return (await asked).token;
  }

  /** Signs out: the sign-in ends for every coordinator, with all its tokens. */
  async end(id: string): Promise<void> {
    this.#held.delete(id);
    await this.#asked.get(id)?.catch(() => undefined);
    this.#held.delete(id);
    await changeConsoleSignIn(this.#parts.database, id, async (sealed) => {
      const held = this.#open(id, sealed);
      if (held !== undefined) await this.#parts.catalog.revokeSignIn({ ...held, clientId: CONSOLE_CLIENT });
      return { sealed: null, answer: true };
    });
  }

  async #ask(id: string): Promise<Held> {
    const { database, nowMs } = this.#parts;
    const held = await changeConsoleSignIn(database, id, async (sealed) => {
      const stored = this.#open(id, sealed);
      if (stored === undefined || stored.endsAtMs <= nowMs()) return { sealed: null, answer: undefined };
      if (stored.renewAtMs > nowMs()) return { sealed, answer: stored };
      const next = await this.#renew(stored);
      return { sealed: next === undefined ? null : this.#seal(id, next), answer: next };
    });
    if (held === undefined) {
      this.#held.delete(id);
      throw new SkeinError('UNAUTHENTICATED', 'the session of the console has ended: sign in again');
    }
    this.#held.set(id, held);
    return held;
  }

  /** @returns undefined: the catalog says that the sign-in has ended */
  async #renew(stored: Held): Promise<Held | undefined> {
    try {
      return this.#due(await this.#parts.catalog.renewSignIn({ ...stored, clientId: CONSOLE_CLIENT }));
    } catch (thrown) {
      const { code } = SkeinError.of(thrown);
      if (code === 'UNAUTHENTICATED') return undefined;
      // While the catalog is away, the token that is there goes on, as long as it is good.
      if (code === 'CATALOG_UNAVAILABLE' && stored.expiresAtMs > this.#parts.nowMs()) return stored;
      throw thrown;
    }
  }

  #due(tokens: PersonTokens): Held {
    const now = this.#parts.nowMs();
    return { ...tokens, renewAtMs: now + (tokens.expiresAtMs - now) * RENEWED_AFTER };
  }

  #seal(id: string, held: Held): string {
    return sealText(JSON.stringify(held), this.#parts.keyring, purpose(id));
  }

  /** @returns undefined: the secret that sealed it is accepted no more */
  #open(id: string, sealed: string): Held | undefined {
    const opened = openText(sealed, this.#parts.keyring, purpose(id));
    return 'problem' in opened ? undefined : (JSON.parse(opened.text) as Held);
  }
}
