import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { experimental, Metadata, status, type ChannelOptions } from '@grpc/grpc-js';

/** Time for which a process is avoided, and pause before another one is. */
const AVOID_MS = 5_000;
const AVOID_PAUSE_MS = 1_000;
/** A timer may fire somewhat early. */
const TIMER_EARLY_MS = 50;

/** Addresses (host:port) of processes of one kind, any of which will do; the first that answers is used until it no longer does. */
export class AddressList {
  #addresses: readonly string[];
  #avoided: { readonly peer: string; readonly sinceMs: number } | undefined;
  readonly #listeners = new Set<() => void>();

  constructor(addresses: readonly string[]) {
    this.#addresses = addresses;
  }

  get addresses(): readonly string[] {
    return this.#addresses;
  }

  /** Clients that are connected stay with the process that they have, while it is in the list. */
  set(addresses: readonly string[]): void {
    if (addresses.join() === this.#addresses.join()) return;
    this.#addresses = addresses;
    for (const listener of this.#listeners) listener();
  }

  /**
   * Leaves out for a while a process that answers, and says that it can do nothing: clients go to the next one, and stay there.
   * @param peer its address, as gRPC knows it
   * @returns false when another one was left out a moment ago
   */
  avoid(peer: string): boolean {
    const nowMs = performance.now();
    if (this.#avoided !== undefined && nowMs - this.#avoided.sinceMs < AVOID_PAUSE_MS) return false;
    this.#avoided = { peer, sinceMs: nowMs };
    for (const listener of this.#listeners) listener();
    // Clients that lose the next one, too, come back to this one.
    setTimeout(() => {
      for (const listener of this.#listeners) listener();
    }, AVOID_MS + TIMER_EARLY_MS).unref();
    return true;
  }

  /** These processes in the order in which clients try them: the one that was avoided last, or not at all while it is. */
  ordered<One>(found: readonly One[], peerOf: (one: One) => string): readonly One[] {
    const { peer, sinceMs } = this.#avoided ?? {};
    const others = found.filter((one) => peerOf(one) !== peer);
    if (sinceMs === undefined || others.length === 0) return found;
    const isOut = performance.now() - sinceMs < AVOID_MS;
    return isOut ? others : [...others, ...found.filter((one) => peerOf(one) === peer)];
  }

  /** The returned function ends this. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}

const SCHEME = 'skein-any';
const OPTION = 'skein.addresses';

/** Addresses of a list, without those that may not be dialled. */
type Allowed = { readonly list: AddressList; readonly mayDial: (address: string) => boolean };

/** The target of a channel to any of these, and the options that it needs. Addresses that `mayDial` refuses are left out. */
export const anyOf = (
  list: AddressList,
  mayDial: (address: string) => boolean,
): { readonly target: string; readonly options: ChannelOptions } => ({
  target: `${SCHEME}:any`,
  options: { [OPTION]: { list, mayDial } satisfies Allowed },
});

type Endpoint = experimental.Endpoint;

/** Names are looked up again at most this often. */
const LOOKUP_PAUSE_MS = 1_000;

/** Gives gRPC the endpoints of a list, in its order: it tries them one after another, without waiting for one that is silent. */
class AnyResolver implements experimental.Resolver {
  readonly #listener: experimental.ResolverListener;
  readonly #allowed: Allowed;
  #endChanges: (() => void) | undefined;
  #timer: NodeJS.Timeout | undefined;
  #lookedUpMs = -Infinity;

  constructor(_target: experimental.GrpcUri, listener: experimental.ResolverListener, options: ChannelOptions) {
    this.#listener = listener;
    this.#allowed = options[OPTION] as Allowed;
  }

  static getDefaultAuthority(): string {
    return 'any.skein';
  }

  updateResolution(): void {
    this.#endChanges ??= this.#allowed.list.onChange(() => this.#soon(0));
    this.#soon(this.#lookedUpMs + LOOKUP_PAUSE_MS - performance.now());
  }

  destroy(): void {
    this.#endChanges?.();
    this.#endChanges = undefined;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#lookedUpMs = -Infinity;
  }

  #soon(pauseMs: number): void {
    if (this.#timer !== undefined && pauseMs > 0) return;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#lookUp(), Math.max(0, pauseMs));
  }

  async #lookUp(): Promise<void> {
    this.#timer = undefined;
    this.#lookedUpMs = performance.now();
    const { list, mayDial } = this.#allowed;
    const found = await Promise.all(list.addresses.filter(mayDial).map(endpointsOf));
    if (this.#endChanges === undefined) return;
    const endpoints = list.ordered(found.flat(), peerOf);
    if (endpoints.length > 0) this.#listener({ ok: true, value: [...endpoints] }, {}, null, '');
    else {
      const details = `none of these addresses is known: ${list.addresses.join(', ')}`;
      const error = { code: status.UNAVAILABLE, details, metadata: new Metadata() };
      this.#listener({ ok: false, error }, {}, null, '');
    }
  }
}

/** The name of an endpoint, as a call gives that of its peer. */
function peerOf({ addresses: [address] }: Endpoint): string {
  if (address === undefined || !('port' in address)) return '';
  return `${isIP(address.host) === 6 ? `[${address.host}]` : address.host}:${address.port}`;
}

/** The endpoints of host:port; none when its name is not known now. */
async function endpointsOf(address: string): Promise<readonly Endpoint[]> {
  const at = address.lastIndexOf(':');
  const host = address.slice(0, at).replace(/^\[|\]$/g, '');
  const port = Number(address.slice(at + 1));
  if (isIP(host) !== 0) return [{ addresses: [{ host, port }] }];
  const found = await lookup(host, { all: true }).catch(() => []);
  return found.map((one) => ({ addresses: [{ host: one.address, port }] }));
}

experimental.registerResolver(SCHEME, AnyResolver);
