import { SkeinError } from '#shared/error.ts';
import type { AccessKey } from '#shared/storage/key-file.ts';

/** The key of this process's machine; null = it does not end by itself. */
export type MachineKey = AccessKey & { readonly expiresAtMs: number | null };

type Provider = () => Promise<{
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}>;

/** A key is asked for again when it has less than this to live. */
const LEFT_MIN_MS = 300_000;
/** A key with less than this to live serves nobody. */
const USABLE_MIN_MS = 30_000;

/**
 * The key that AWS gives to the process by its machine: the provider chain of the SDK (environment, files, web identity, container,
 * instance). Only catalogs of flavor `aws` without a key of their own use it, so the SDK is loaded when the first of them does.
 */
export class MachineKeys {
  #provider: Promise<Provider> | undefined;
  #key: Promise<MachineKey> | undefined;
  #isRenewing = false;

  /**
   * The key; another one than `refused`. The next one is asked for while the last serves, so that a machine that does not answer delays nobody
   * before the last one ends. @throws STORAGE_ERROR when the machine gives none
   */
  async key(refused?: string): Promise<MachineKey> {
    const known = await this.#key?.catch(() => undefined);
    if (known !== undefined && known.accessKeyId !== refused && leftMs(known) > USABLE_MIN_MS) {
      if (leftMs(known) <= LEFT_MIN_MS) void this.#renew();
      return known;
    }
    this.#key = this.#ask();
    return this.#key;
  }

  async #renew(): Promise<void> {
    if (this.#isRenewing) return;
    this.#isRenewing = true;
    try {
      const next = await this.#ask();
      this.#key = Promise.resolve(next);
    } catch {
      // The last one serves until it ends.
    } finally {
      this.#isRenewing = false;
    }
  }

  async #ask(): Promise<MachineKey> {
    try {
      this.#provider ??= load();
      const { accessKeyId, secretAccessKey, sessionToken, expiration } = await (await this.#provider)();
      return {
        accessKeyId,
        secretAccessKey,
        sessionToken: sessionToken ?? null,
        expiresAtMs: expiration?.getTime() ?? null,
      };
    } catch (cause) {
      throw new SkeinError('STORAGE_ERROR', 'this machine gives the catalog no key for AWS', { cause });
    }
  }
}

const leftMs = ({ expiresAtMs }: MachineKey): number => (expiresAtMs ?? Infinity) - Date.now();

async function load(): Promise<Provider> {
  const { defaultProvider } = await import('@aws-sdk/credential-provider-node');
  // A chain keeps what it has found until shortly before its end; `key` decides when to ask again.
  return () => defaultProvider()();
}
