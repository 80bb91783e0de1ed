import type { Clock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import { FairGate } from '#shared/fair/fair-gate.ts';
import { addressKey } from '#shared/newcomers/address-key.ts';
import { FailedAccounts } from './failed-accounts.ts';
import { FailedAttempts } from './failed-attempts.ts';
import { HashThreads } from './hash-threads.ts';

/** Hashes that are computed at once: each takes 64 MiB and a thread. */
const HASHES_AT_ONCE = 2;
/** Longest time that a password waits for its turn; who would wait longer is refused. */
const WAIT_MS_MAX = 5_000;
const WAITING_MAX = 1_000;
/** Longest password in bytes; the policies of tenants allow less. */
const PASSWORD_BYTES_MAX = 1_024;
/** Failures a minute of one user from one address, and of one address for all users. */
const FAILURES_OF_USER_MAX = 10;
const FAILURES_OF_ADDRESS_MAX = 100;

/**
 * A hash of a password that nobody knows. A user who is not there, or has no password, is compared with it, so that the answer takes as
 * long as for one who has.
 */
const NOBODYS_HASH =
  '$argon2id$v=19$m=65536,p=1,t=3$NlHQMYeJ5pDQxYTM564oHQ$BeAkIsd8HUduBIAbR0+c28n200J65B+xTrq2S3jyEAI';

/** One try to sign in: failures are counted by its members. */
export type Attempt = {
  /** Tenant and name as the client spelled them; nobody has to have this name. */
  readonly tenant: string;
  readonly user: string;
  /** The client's, without its port. */
  readonly address: string;
  /** `user` is no account's name: the secret that was shown names none. */
  readonly isNameless?: boolean;
};

/** Whose turn it is; turns go around tenants, and around the principals of one. */
type Asker = { readonly tenant: string; readonly principal: string };

/**
 * The one place where passwords are hashed and compared. Two hashes are computed at once, the rest wait in turns between addresses. Who has
 * failed too often is refused without a hash, and nobody is kept waiting as a punishment.
 */
export class PasswordVerifier implements AsyncDisposable {
  readonly #ofUser: FailedAttempts;
  readonly #ofAddress: FailedAttempts;
  readonly #ofAccounts: FailedAccounts;
  readonly #threads = new HashThreads(HASHES_AT_ONCE);
  readonly #gate = new FairGate({
    atOnce: HASHES_AT_ONCE,
    waitingMax: WAITING_MAX,
    waitMsMax: WAIT_MS_MAX,
    what: 'the check of their passwords',
  });

  /** @param accountsMax accounts for which an address may fail, as `catalog.failed_accounts_per_address_max` */
  constructor(clock: Clock, accountsMax: number) {
    this.#ofUser = new FailedAttempts(clock, FAILURES_OF_USER_MAX);
    this.#ofAddress = new FailedAttempts(clock, FAILURES_OF_ADDRESS_MAX);
    this.#ofAccounts = new FailedAccounts(clock, accountsMax);
  }

  /**
   * Whether the password is that of the hash; undefined = there is none, which takes as long. A wrong one counts against the attempt, and by
   * `whenWrong`, before the turn ends: of many that are shown at once, those behind meet what the first have counted.
   * @throws TOO_MANY_SIGN_INS
   */
  async matches(
    attempt: Attempt,
    password: string,
    hash: string | undefined,
    whenWrong?: () => Promise<void>,
  ): Promise<boolean> {
    this.requireAllowed(attempt);
    const asker = { tenant: addressKey(attempt.address), principal: attempt.user };
    return this.#inTurn(asker, async () => {
      // Others with the same key may have failed while this one waited.
      this.requireAllowed(attempt);
      const isRight = (await this.#isHashOf(password, hash ?? NOBODYS_HASH)) && hash !== undefined;
      if (!isRight) {
        this.failed(attempt);
        await whenWrong?.();
      }
      return isRight;
    });
  }

  /**
   * Whether the hash is that of the password. The caller is signed in, and counts a wrong one by `whenWrong`, as in `matches`.
   * @throws TOO_MANY_SIGN_INS
   */
  isHashOf(asker: Asker, password: string, hash: string, whenWrong?: () => Promise<void>): Promise<boolean> {
    return this.#inTurn(asker, async () => {
      const isRight = await this.#isHashOf(password, hash);
      if (!isRight) await whenWrong?.();
      return isRight;
    });
  }

  /** The PHC string to store of a new password, which waits for its turn, too. @throws TOO_MANY_SIGN_INS */
  hash(password: string, asker: Asker): Promise<string> {
    return this.#inTurn(asker, () => this.#threads.hash(password));
  }

  /** @throws TOO_MANY_SIGN_INS when the user at this address, or the address, has failed too often, or for too many accounts */
  requireAllowed(attempt: Attempt): void {
    if (this.#ofAccounts.isRefused(addressKey(attempt.address))) {
      throw new SkeinError('TOO_MANY_SIGN_INS', 'too many sign-ins have failed: try again in ten minutes');
    }
    if (!this.#ofUser.isRefused(userKey(attempt)) && !this.#ofAddress.isRefused(addressKey(attempt.address))) return;
    throw new SkeinError('TOO_MANY_SIGN_INS', 'too many sign-ins have failed: try again in a minute');
  }

  /** Counts a failure, of a password or of another secret that is shown in its place. */
  failed(attempt: Attempt): void {
    this.#ofUser.failed(userKey(attempt));
    this.#ofAddress.failed(addressKey(attempt.address));
    if (attempt.isNameless !== true) this.#ofAccounts.failed(addressKey(attempt.address), userKey(attempt));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#threads[Symbol.asyncDispose]();
  }

  async #isHashOf(password: string, hash: string): Promise<boolean> {
    return Buffer.byteLength(password) <= PASSWORD_BYTES_MAX && (await this.#threads.isHashOf(password, hash));
  }

  async #inTurn<T>(asker: Asker, work: () => Promise<T>): Promise<T> {
    try {
      return await this.#gate.run(asker, work);
    } catch (error) {
      if (!(error instanceof SkeinError) || error.code !== 'QUEUE_FULL') throw error;
      throw new SkeinError('TOO_MANY_SIGN_INS', 'too many are signing in: try again', { cause: error });
    }
  }
}

/** Names are cut: nobody's name is that long, and every key is kept in memory. */
const userKey = ({ tenant, user, address }: Attempt): string =>
  JSON.stringify([addressKey(address), tenant.slice(0, 255), user.slice(0, 255)]);
