import { randomBytes, timingSafeEqual } from 'node:crypto';
import { WireError } from '../message/wire-error.ts';

const SECRET_BYTES = 4;
/** Since protocol 3.2. */
const LONG_SECRET_BYTES = 32;

/** A connection by the key with which its statements can be cancelled. */
export type Backend = { readonly pid: number; readonly secret: Buffer; readonly cancel: () => void };

/** The connections that are signed in, of all principals and of each. */
export class Backends {
  readonly #perPrincipalMax: number;
  readonly #backends = new Map<number, Backend>();
  readonly #principals = new Map<string, number>();

  constructor(perPrincipalMax: number) {
    this.#perPrincipalMax = perPrincipalMax;
  }

  /** @throws WireError when the principal has too many */
  open(principal: string, hasLongKey: boolean, { pid, cancel }: Pick<Backend, 'pid' | 'cancel'>): Backend & Disposable {
    const count = this.#principals.get(principal) ?? 0;
    if (count >= this.#perPrincipalMax) {
      throw new WireError('53300', `too many connections (coordinator.postgres_connections_per_principal_max)`);
    }
    this.#principals.set(principal, count + 1);
    const backend = { pid, secret: randomBytes(hasLongKey ? LONG_SECRET_BYTES : SECRET_BYTES), cancel };
    this.#backends.set(pid, backend);
    return {
      ...backend,
      [Symbol.dispose]: () => {
        this.#backends.delete(pid);
        const left = (this.#principals.get(principal) ?? 1) - 1;
        if (left === 0) this.#principals.delete(principal);
        else this.#principals.set(principal, left);
      },
    };
  }

  /** A wrong or late key does nothing. */
  cancel(pid: number, secret: Buffer): void {
    const backend = this.#backends.get(pid);
    if (backend === undefined || backend.secret.length !== secret.length) return;
    if (timingSafeEqual(backend.secret, secret)) backend.cancel();
  }
}
