import { SkeinError } from '#shared/error.ts';
import { credentialId, type StoreCredential } from '#shared/storage/credential.ts';
import { RepeatBudget, type StorageUse } from '#shared/storage/storage-use.ts';

/** How long a task waits for another key: the coordinator is asked with the next heartbeat. */
const WAIT_MS = 20_000;

/**
 * The keys of one task in place of those that it came with, which may end while it runs. Who needs another asks; the coordinator's
 * answer comes with a message.
 */
export class TaskKeys {
  /** The signal, keys and repeats that the task lends to the storages that it opens. */
  readonly use: StorageUse;
  readonly #ask: (credentialId: string) => void;
  /** The last that came, by the ids of the keys that they replace, also by way of others. */
  readonly #newer = new Map<string, StoreCredential>();
  readonly #waiting = new Map<string, PromiseWithResolvers<StoreCredential>>();

  constructor(signal: AbortSignal, ask: (credentialId: string) => void) {
    this.#ask = ask;
    this.use = { signal, repeats: new RepeatBudget(), renew: (credential) => this.#renew(credential) };
  }

  /** Takes a key that has come. */
  renewed(replaces: string, credential: StoreCredential): void {
    for (const [old, key] of this.#newer) if (credentialId(key) === replaces) this.#newer.set(old, credential);
    this.#newer.set(replaces, credential);
    this.#newer.delete(credentialId(credential));
    this.#waiting.get(replaces)?.resolve(credential);
    this.#waiting.delete(replaces);
  }

  async #renew(credential: StoreCredential): Promise<StoreCredential> {
    const id = credentialId(credential);
    const known = this.#newer.get(id);
    if (known !== undefined) return known;
    // Nobody renews it.
    if (credential.reach === undefined) return credential;
    const waiting = this.#waiting.get(id) ?? Promise.withResolvers<StoreCredential>();
    if (!this.#waiting.has(id)) {
      this.#waiting.set(id, waiting);
      this.#ask(id);
    }
    const late = Promise.withResolvers<never>();
    const fail = (): void =>
      late.reject(new SkeinError('STORAGE_ERROR', 'a key of the store has ended, and no other came'));
    const timer = setTimeout(fail, WAIT_MS);
    const { signal } = this.use;
    const stop = (): void => late.reject(SkeinError.of(signal?.reason));
    if (signal?.aborted === true) stop();
    signal?.addEventListener('abort', stop, { once: true });
    try {
      return await Promise.race([waiting.promise, late.promise]);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', stop);
    }
  }
}
