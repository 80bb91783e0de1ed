import { randomUUID } from 'node:crypto';
import type { Clock } from '#shared/clock.ts';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalId, TenantId } from '#shared/id.ts';
import type { Logger } from '#shared/log/logger.ts';
import { must } from '#shared/must.ts';

/** The owner and shape of a statement. */
export type StatementShape = {
  readonly tenant: TenantId;
  readonly principal: PrincipalId;
  readonly username: string;
  readonly fingerprint: string;
  /** The statement's text for display: secrets are removed, and a long text is cut. */
  readonly sql: string;
};

/** A statement for which a worker's process ended. */
export type Kill = StatementShape & {
  readonly id: string;
  readonly reason: string;
  readonly killedAtMs: number;
  /** Statements of its shape are refused until then. */
  readonly untilMs: number;
};

/** Stores kills so that they survive a restart of the coordinator. */
export interface KillStore {
  load(): Promise<readonly Kill[]>;
  add(kill: Kill): Promise<void>;
  remove(id: string): Promise<void>;
}

type Options = {
  readonly store: KillStore;
  readonly clock: Clock;
  readonly log: Logger;
  /** Time for which a shape is refused. */
  readonly ttlMs: number;
  /** A principal with this many kills within `windowMs` is refused altogether, until they are older. */
  readonly killsMax: number;
  readonly windowMs: number;
};

/** Kills that are remembered. Above it the oldest of the tenant with the most goes, so that no tenant pushes out another's. */
const KILLS_KEPT_MAX = 10_000;

/**
 * Refuses statements that may hang a worker again. When a statement did not stop at its interrupt, statements of its shape are refused for
 * its principal, for `ttlMs`; a principal with `killsMax` such statements within `windowMs` is refused altogether. An operator can lift
 * either.
 */
export class Quarantine {
  readonly #options: Options;
  /** Kills by id, oldest first. */
  readonly #kills = new Map<string, Kill>();

  constructor(options: Options) {
    this.#options = options;
  }

  /** Reads the kills that an earlier coordinator stored. */
  async open(): Promise<void> {
    for (const kill of await this.#options.store.load()) this.#kills.set(kill.id, kill);
    this.#forgetOld();
  }

  /** @throws STATEMENT_QUARANTINED, PRINCIPAL_LIMITED */
  check({ tenant, principal, fingerprint }: Pick<Kill, 'tenant' | 'principal' | 'fingerprint'>): void {
    if (this.#kills.size === 0) return;
    this.#forgetOld();
    const { clock, killsMax, windowMs } = this.#options;
    const nowMs = clock.nowMs();
    const own = [...this.#kills.values()].filter((kill) => kill.tenant === tenant && kill.principal === principal);
    const same = own.findLast((kill) => kill.fingerprint === fingerprint && kill.untilMs > nowMs);
    if (same !== undefined) {
      const until = new Date(same.untilMs).toISOString();
      const message = `statements of this shape are refused until ${until}: ${same.reason} (quarantine ${same.id})`;
      throw new SkeinError('STATEMENT_QUARANTINED', message);
    }
    const recent = own.filter((kill) => kill.killedAtMs > nowMs - windowMs);
    if (recent.length >= killsMax) {
      throw new SkeinError(
        'PRINCIPAL_LIMITED',
        `${recent.length} statements of this principal have cost a worker its process lately; none is taken for a while`,
      );
    }
  }

  /** Records that a worker's process ended because of this statement. */
  add(shape: StatementShape, reason: string): void {
    const { clock, ttlMs, store, log } = this.#options;
    const killedAtMs = clock.nowMs();
    const kill: Kill = { ...shape, id: randomUUID(), reason, killedAtMs, untilMs: killedAtMs + ttlMs };
    this.#kills.set(kill.id, kill);
    const { tenant, principal, fingerprint, id } = kill;
    log.warn({ tenant, principal, fingerprint, id, reason }, 'a statement is quarantined');
    store.add(kill).catch((error: unknown) => log.warn({ err: error, id }, 'a quarantine cannot be stored'));
    this.#forgetOld();
  }

  /** Returns a tenant's kills that are in force, the latest first. */
  list(tenant: TenantId): readonly Kill[] {
    this.#forgetOld();
    return [...this.#kills.values()].filter((kill) => kill.tenant === tenant).toReversed();
  }

  /** Forgets one; false when the tenant has none of this id. */
  async lift(tenant: TenantId, id: string): Promise<boolean> {
    if (this.#kills.get(id)?.tenant !== tenant) return false;
    this.#kills.delete(id);
    await this.#options.store.remove(id);
    this.#options.log.info({ tenant, id }, 'a quarantine was lifted');
    return true;
  }

  #forgetOld(): void {
    const { clock, windowMs } = this.#options;
    const nowMs = clock.nowMs();
    for (const kill of this.#kills.values()) {
      if (kill.untilMs <= nowMs && kill.killedAtMs <= nowMs - windowMs) this.#forget(kill);
    }
    while (this.#kills.size > KILLS_KEPT_MAX) this.#forget(this.#oldestOfLargest());
  }

  #oldestOfLargest(): Kill {
    const tenants = Map.groupBy(this.#kills.values(), ({ tenant }) => tenant);
    const [[oldest] = []] = [...tenants.values()].toSorted((one, other) => other.length - one.length);
    return must(oldest, 'a full list has a kill');
  }

  #forget({ id }: Kill): void {
    this.#kills.delete(id);
    this.#options.store.remove(id).catch(() => undefined);
  }
}
