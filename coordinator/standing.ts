import type { Config } from '#shared/config/config-schema.ts';
import type { AddressList } from '#shared/grpc/address-list.ts';
import type { Logger } from '#shared/log/logger.ts';
import type { Candidate, Fitness } from '#shared/membership/election.ts';
import type { Member, Membership } from '#shared/membership/member.ts';
import { openMembership, registerMember } from '#shared/membership/open-membership.ts';
import type { EpochWatch } from './auth/epoch-watch.ts';

/** Interval at which a coordinator looks whether it reaches a catalog. */
const LOOK_INTERVAL_MS = 250;

type Options = {
  readonly config: Config;
  readonly candidate: Candidate;
  /** host:port of the calls of `member.proto`. */
  readonly internal: string | undefined;
  readonly epochs: Pick<EpochWatch, 'isReached'>;
  readonly log: Logger;
};

/**
 * Where a coordinator stands among the others: it is registered while it reaches a catalog, and gives up the lead when it reaches none and
 * another one is registered.
 */
export class Standing implements Fitness, AsyncDisposable {
  readonly #options: Options;
  readonly #membership: Membership;
  readonly #timer: NodeJS.Timeout;
  #registered: Promise<{ close(): Promise<void> }> | undefined;
  #others: readonly Member[] = [];

  private constructor(options: Options, membership: Membership) {
    this.#options = options;
    this.#membership = membership;
    const { id } = options.candidate;
    membership.watch('coordinator', (members) => (this.#others = members.filter((member) => member.id !== id)));
    this.#timer = setInterval(() => this.#look(), LOOK_INTERVAL_MS);
  }

  /** @param catalogs gets the addresses of the catalogs that are registered, after those that are configured */
  static async open(options: Options, catalogs: AddressList): Promise<Standing> {
    const membership = await openMembership(options.config, options.log);
    const configured = catalogs.addresses;
    membership.watch('catalog', (members) => {
      const found = members.map(({ address }) => address);
      catalogs.set([...new Set([...configured, ...found])]);
    });
    return new Standing(options, membership);
  }

  isFit(): boolean {
    return this.#options.epochs.isReached();
  }

  yields(): boolean {
    return !this.isFit() && this.#others.length > 0;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    clearInterval(this.#timer);
    await this.#leave();
    await this.#membership.close();
  }

  #look(): void {
    if (!this.isFit()) void this.#leave();
    else this.#registered ??= this.#register();
  }

  async #register(): Promise<{ close(): Promise<void> }> {
    const { config, candidate, internal, log } = this.#options;
    const { id, url } = candidate;
    return registerMember(
      config,
      { kind: 'coordinator', id, name: url, address: url, ...(internal === undefined ? {} : { internal }) },
      log,
    );
  }

  async #leave(): Promise<void> {
    const registered = this.#registered;
    this.#registered = undefined;
    await (await registered)?.close();
  }
}
