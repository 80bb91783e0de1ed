import { EventEmitter } from 'node:events';
import type { Etcd3 } from 'etcd3';
import { simulatedMs, within, type Machine, type Wires } from './machines.ts';

/** Time that a client gives etcd for an answer. */
const CALL_TIMEOUT_MS = 5_000;
/** etcd looks for leases that have ended. */
const EXPIRY_MS = 500;

type Key = { readonly value: string; readonly lease: number };

/** etcd, as much of it as an election needs: keys under leases. Its time goes by its machine's clock. */
export class EtcdModel {
  readonly machine: Machine;
  readonly #keys = new Map<string, Key>();
  readonly #leases = new Map<number, { readonly ttlMs: number; endMs: number }>();
  readonly #watchers = new Set<{ readonly key: string; readonly deleted: () => void }>();
  #ids = 0;

  constructor(machine: Machine) {
    this.machine = machine;
    machine.run(() => setInterval(() => this.#expire(), EXPIRY_MS));
  }

  grant(ttlS: number): number {
    const id = ++this.#ids;
    this.#leases.set(id, { ttlMs: ttlS * 1_000, endMs: this.#nowMs() + ttlS * 1_000 });
    return id;
  }

  /** @returns whether the lease was there */
  renew(id: number): boolean {
    this.#expire();
    const lease = this.#leases.get(id);
    if (lease === undefined) return false;
    lease.endMs = this.#nowMs() + lease.ttlMs;
    return true;
  }

  revoke(id: number): void {
    this.#leases.delete(id);
    for (const [key, { lease }] of this.#keys) if (lease === id) this.#delete(key);
  }

  get(key: string): string | null {
    this.#expire();
    return this.#keys.get(key)?.value ?? null;
  }

  /** Makes a key when there is none. */
  create(key: string, made: Key): boolean {
    this.#expire();
    if (this.#keys.has(key) || !this.#leases.has(made.lease)) return false;
    this.#keys.set(key, made);
    return true;
  }

  watch(key: string, deleted: () => void): () => void {
    const watcher = { key, deleted };
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  #nowMs(): number {
    return this.machine.clockMs(simulatedMs());
  }

  #expire(): void {
    for (const [id, { endMs }] of this.#leases) if (this.#nowMs() > endMs) this.revoke(id);
  }

  #delete(key: string): void {
    this.#keys.delete(key);
    for (const watcher of this.#watchers) if (watcher.key === key) watcher.deleted();
  }
}

/** A lease as the client `etcd3` keeps it: several renewals may be on their way. */
class LeaseModel extends EventEmitter {
  readonly #ask: <T>(work: (etcd: EtcdModel) => T) => Promise<T>;
  readonly #ttlS: number;
  readonly #granted: Promise<number>;
  #timer: NodeJS.Timeout | undefined;
  #renewedMs = performance.now();
  #isReleased = false;

  constructor(ttlS: number, ask: <T>(work: (etcd: EtcdModel) => T) => Promise<T>) {
    super();
    this.#ask = ask;
    this.#ttlS = ttlS;
    this.#granted = ask((etcd) => etcd.grant(ttlS));
    void this.#begin();
  }

  grant(): Promise<number> {
    return this.#granted;
  }

  async revoke(): Promise<void> {
    this.release();
    const id = await this.#granted;
    await this.#ask((etcd) => etcd.revoke(id));
  }

  release(): void {
    this.#isReleased = true;
    clearInterval(this.#timer);
  }

  async #begin(): Promise<void> {
    try {
      await this.#granted;
      if (this.#isReleased) return;
      this.#timer = setInterval(() => void this.#renew(), (this.#ttlS * 1_000) / 3);
    } catch {
      // The caller of `grant` hears of it.
    }
  }

  async #renew(): Promise<void> {
    if (performance.now() - this.#renewedMs > 2_000 * this.#ttlS) {
      this.release();
      this.emit('lost', new Error('the lease has expired'));
      return;
    }
    this.emit('keepaliveFired');
    try {
      const id = await this.#granted;
      const isThere = await this.#ask((etcd) => etcd.renew(id));
      this.#renewedMs = performance.now();
      if (isThere) this.emit('keepaliveSucceeded');
      else {
        this.release();
        this.emit('lost', new Error('the lease is unknown'));
      }
    } catch {
      this.emit('keepaliveFailed');
    }
  }
}

/** The client of a machine, as far as the election uses it. */
export function etcdClientModel(machine: Machine, etcd: EtcdModel, wires: Wires): Etcd3 {
  const ask = <T>(work: (etcd: EtcdModel) => T): Promise<T> =>
    within(
      CALL_TIMEOUT_MS,
      wires.ask(machine, etcd.machine, () => work(etcd)),
    );
  const put = (key: string) => ({
    value: (value: string) => ({ lease: (lease: number) => ({ key, made: { value, lease } }) }),
  });
  const client = {
    get: (key: string) => ({ string: () => ask((one) => one.get(key)) }),
    put,
    lease: (ttlS: number) => new LeaseModel(ttlS, ask),
    if: (_key: string) => ({
      // oxlint-disable-next-line no-thenable
      then: ({ key, made }: { readonly key: string; readonly made: Key }) => ({
        commit: async () => ({ succeeded: await ask((one) => one.create(key, made)) }),
      }),
    }),
    watch: () => ({
      key: (key: string) => ({
        create: async () => {
          const events = new EventEmitter();
          const end = await ask((one) =>
            one.watch(key, () => wires.send(one.machine, machine, () => void events.emit('delete'))),
          );
          return Object.assign(events, {
            cancel: async () => {
              wires.send(machine, etcd.machine, end);
            },
          });
        },
      }),
    }),
    close: () => undefined,
  };
  return client as unknown as Etcd3;
}
