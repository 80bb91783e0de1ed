import { setTimeout as sleep } from 'node:timers/promises';
import type { TokenClaims } from '#shared/authorization/token-claims.ts';
import type { Clock } from '#shared/clock.ts';
import { isUuid, principalId } from '#shared/id.ts';
import { unreachable } from '#shared/must.ts';
import type { Logger } from '#shared/log/logger.ts';
import { recordEvent } from '../store/postgres/audit-store.ts';
import type { Store } from '../store/postgres/connect.ts';
import { findTenantNamed, requireTenant, type NamedTenant } from '../store/postgres/catalog-store.ts';
import { findClient } from '../store/postgres/client-store.ts';
import { toCatalogError } from '../store/postgres/errors.ts';
import { findByName } from '../store/postgres/principal-record-store.ts';
import { providersOfToken } from '../store/postgres/provider-store.ts';
import { findTokenHolder, findTokenPrincipal } from '../store/postgres/shown-credentials.ts';
import type { TokenPrincipal } from '../store/postgres/principal-store.ts';
import { keepSignIn, unlock } from '../store/postgres/sign-in-store.ts';
import { transact } from '../store/postgres/transact.ts';

/** Time between two looks at the refusals that have no row yet. */
const LOOK_MS = 1_000;
/** Refusals of one principal by one method have one row in so long. */
const ROW_MS = 60_000;
/** Different names that are counted at once; further ones count as nobody's. */
const NAMES_MAX = 1_000;
/** Addresses that a row of refusals names, and programs. */
const ADDRESSES_MAX = 5;
/** So much of a program's name is kept. */
const AGENT_LENGTH_MAX = 200;
const NAME_LENGTH_MAX = 600;

type Method = TokenClaims['auth_method'];

/** A principal as somebody has named it who was refused. */
export type NamedPrincipal =
  /** Tenant empty = the first. */
  | { readonly by: 'name'; readonly tenant: string; readonly name: string }
  | { readonly by: 'client'; readonly clientId: string }
  /** `iss` of an assertion: `<tenant>/<name>`, or an id. */
  | { readonly by: 'issuer'; readonly issuer: string }
  /** A personal access token, by its digest. */
  | { readonly by: 'token'; readonly sha256: string }
  /** A token of an identity provider of this tenant. */
  | { readonly by: 'provider'; readonly tenant: string }
  /** A token of an identity provider, by what it says of itself. */
  | { readonly by: 'outside token'; readonly issuer: string; readonly audiences: readonly string[] }
  | { readonly by: 'nobody' };

/** A sign-in as it was seen. */
export type SeenSignIn = {
  readonly address: string;
  /** The program, as it names itself. */
  readonly agent?: string;
  /** The factors that a person has shown, by the names of RFC 8176. */
  readonly factors?: readonly string[];
  /** The client that a person has allowed to act as him. */
  readonly client?: string;
};

type Refusals = {
  count: number;
  readonly addresses: Set<string>;
  readonly agents: Set<string>;
  readonly reasons: Map<string, number>;
  readonly since: Date;
};
type Target = { readonly tenant: NamedTenant; readonly party: { readonly id: string; readonly name: string } | null };

/**
 * The rows of the audit log about sign-ins. One that is granted has its row before its token is given. Refusals are counted here and written
 * by the background: one row a minute of a principal and a method, with their number, so that a flood of them does not fill the log, and
 * the time of an answer does not tell who is there. The name that was typed is written nowhere: people type passwords there.
 */
export class SignInLog {
  readonly #store: Store;
  readonly #clock: Clock;
  readonly #log: Logger;
  readonly #closed = new AbortController();
  /** By method and name, as JSON. */
  readonly #refused = new Map<string, Refusals>();
  /** Refusals whose principal is found, and whose row of this minute is written: by method, tenant and principal. */
  readonly #waiting = new Map<string, Refusals & { readonly method: Method; readonly target: Target }>();
  readonly #writtenAtMs = new Map<string, number>();
  #loop: Promise<void> | undefined;

  constructor({ store, clock, log }: { readonly store: Store; readonly clock: Clock; readonly log: Logger }) {
    this.#store = store;
    this.#clock = clock;
    this.#log = log;
  }

  start(): void {
    this.#loop ??= this.#run();
  }

  /** Writes the refusals that have no row yet. */
  async close(): Promise<void> {
    this.#closed.abort();
    await this.#loop;
    await this.#look('all').catch((error: unknown) => this.#log.warn({ err: error }, 'refused sign-ins have no row'));
  }

  /**
   * Writes the row of a sign-in that is granted, whose moment is the principal's `last_login_at` then. The whole sign-in of a person removes
   * the count of those that have failed.
   */
  async granted(principal: TokenPrincipal, method: Method, seen: SeenSignIn): Promise<void> {
    const { address, agent = '', factors, client } = seen;
    const party = { id: principal.id, name: principal.username };
    await transact(this.#store.db, async (tx) => {
      const tenant = { id: await requireTenant(tx, principal.tenant), name: principal.tenant };
      const now = new Date(this.#clock.nowMs());
      await keepSignIn(tx, principal.id, now);
      if (method === 'password' && client === undefined) await unlock(tx, principal.id);
      await recordEvent(tx, tenant, now, {
        type: 'sign_in',
        actor: party,
        target: party,
        details: {
          method,
          address,
          ...(agent === '' ? {} : { agent: agent.slice(0, AGENT_LENGTH_MAX) }),
          ...(factors === undefined ? {} : { factors: [...factors] }),
          ...(client === undefined ? {} : { client }),
        },
      });
    });
  }

  /** Counts a sign-in that is refused. */
  refused(
    named: NamedPrincipal,
    method: Method,
    { address, agent = '', reason }: { readonly address: string; readonly agent?: string; readonly reason: string },
  ): void {
    const key = JSON.stringify([method, named]);
    const isKept = this.#refused.has(key) || (this.#refused.size < NAMES_MAX && key.length < NAME_LENGTH_MAX);
    const counted = isKept ? key : JSON.stringify([method, { by: 'nobody' } satisfies NamedPrincipal]);
    const refusals = this.#refused.get(counted) ?? newRefusals(new Date(this.#clock.nowMs()));
    this.#refused.set(
      counted,
      added(refusals, {
        count: 1,
        addresses: [address],
        agents: agent === '' ? [] : [agent.slice(0, AGENT_LENGTH_MAX)],
        reasons: new Map([[reason, 1]]),
      }),
    );
  }

  async #run(): Promise<void> {
    const { signal } = this.#closed;
    while (!signal.aborted) {
      await this.#look('due').catch((error: unknown) => {
        if (!signal.aborted) this.#log.warn({ err: error }, 'refused sign-ins have no row yet; it is tried again');
      });
      await sleep(LOOK_MS, undefined, { signal, ref: false }).catch(() => undefined);
    }
  }

  async #look(which: 'due' | 'all'): Promise<void> {
    const failed = await this.#find();
    await this.#write(which);
    if (failed !== undefined) throw failed;
  }

  /**
   * Finds whom the refusals concern. Those of a name that cannot be looked up now stay for the next look, and hold up none of another.
   * @returns the last error
   */
  async #find(): Promise<unknown> {
    let failed: unknown;
    // Those that come meanwhile wait for the next look.
    const counted = [...this.#refused];
    for (const [key, refusals] of counted) {
      const [method, named] = JSON.parse(key) as [Method, NamedPrincipal];
      let target: Target | undefined;
      try {
        target = await this.#targetOf(named);
      } catch (error) {
        // A name that Postgres stores nowhere is nobody's.
        if (toCatalogError(error).code !== 'INVALID_REQUEST') {
          failed = error;
          continue;
        }
      }
      this.#refused.delete(key);
      if (target === undefined) continue;
      const of = JSON.stringify([method, target.tenant.id, target.party?.id]);
      const before = this.#waiting.get(of) ?? { ...newRefusals(refusals.since), method, target };
      added(before, refusals);
      this.#waiting.set(of, before);
    }
    return failed;
  }

  async #write(which: 'due' | 'all'): Promise<void> {
    const nowMs = this.#clock.nowMs();
    for (const [of, atMs] of this.#writtenAtMs) if (atMs + ROW_MS <= nowMs) this.#writtenAtMs.delete(of);
    for (const [of, { method, target, count, addresses, agents, reasons, since }] of this.#waiting) {
      if (which === 'due' && this.#writtenAtMs.has(of)) continue;
      const details = {
        method,
        count,
        reasons: Object.fromEntries(reasons),
        addresses: [...addresses],
        agents: [...agents],
        since: since.toISOString(),
      };
      await transact(this.#store.db, (tx) =>
        recordEvent(tx, target.tenant, new Date(nowMs), {
          type: 'sign_in_refused',
          actor: null,
          target: target.party,
          details,
        }),
      );
      this.#waiting.delete(of);
      this.#writtenAtMs.set(of, nowMs);
    }
  }

  /** @returns undefined when no tenant is concerned */
  async #targetOf(named: NamedPrincipal): Promise<Target | undefined> {
    switch (named.by) {
      case 'name':
        return this.#byName(named.tenant, named.name);
      case 'client': {
        const client = await findClient(this.#store.db, named.clientId);
        return client === undefined ? undefined : this.#ofPrincipal(client.principal);
      }
      case 'issuer': {
        const slash = named.issuer.indexOf('/');
        if (slash !== -1) return this.#byName(named.issuer.slice(0, slash), named.issuer.slice(slash + 1));
        const id = principalId(named.issuer);
        const found = isUuid(named.issuer) ? await findTokenPrincipal(this.#store.db, id) : undefined;
        return found === undefined ? undefined : this.#ofPrincipal(found);
      }
      case 'token': {
        const holder = await findTokenHolder(this.#store.db, Buffer.from(named.sha256, 'hex'), new Date(0));
        return holder === undefined ? undefined : this.#ofPrincipal(holder.principal);
      }
      case 'provider':
        return this.#ofTenant(named.tenant);
      case 'outside token': {
        const [provider, another] = await providersOfToken(this.#store.db, named.issuer, named.audiences);
        return provider === undefined || another !== undefined ? undefined : this.#ofTenant(provider.tenant);
      }
      case 'nobody':
        return undefined;
      default:
        return unreachable(named);
    }
  }

  async #byName(tenantName: string, name: string): Promise<Target | undefined> {
    if (tenantName.includes('\0')) return undefined;
    const tenant = await findTenantNamed(this.#store.db, tenantName || undefined);
    if (tenant === undefined) return undefined;
    const found = await findByName(this.#store.db, tenant.id, name);
    return { tenant, party: found === undefined ? null : { id: found.id, name: found.username } };
  }

  async #ofTenant(name: string): Promise<Target | undefined> {
    const tenant = await findTenantNamed(this.#store.db, name);
    return tenant === undefined ? undefined : { tenant, party: null };
  }

  async #ofPrincipal({ id, username, tenant: name }: TokenPrincipal): Promise<Target | undefined> {
    const tenant = await findTenantNamed(this.#store.db, name);
    return tenant === undefined ? undefined : { tenant, party: { id, name: username } };
  }
}

const newRefusals = (since: Date): Refusals => ({
  count: 0,
  addresses: new Set(),
  agents: new Set(),
  reasons: new Map(),
  since,
});

type Further = {
  readonly count: number;
  readonly addresses: Iterable<string>;
  readonly agents: Iterable<string>;
  readonly reasons: ReadonlyMap<string, number>;
};

function added(to: Refusals, { count, addresses, agents, reasons }: Further): Refusals {
  to.count += count;
  for (const address of addresses) if (to.addresses.size < ADDRESSES_MAX) to.addresses.add(address);
  for (const agent of agents) if (to.agents.size < ADDRESSES_MAX) to.agents.add(agent);
  for (const [reason, times] of reasons) to.reasons.set(reason, (to.reasons.get(reason) ?? 0) + times);
  return to;
}
