import { setTimeout as sleep } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalId, QueryId, TenantId } from '#shared/id.ts';
import { statementPid } from '../session/client-connections.ts';
import type { LiveQuery, LiveState } from '../operation/live-query.ts';

/** Poll interval of `empty`, which is called at the end of a term only. */
const EMPTY_POLL_MS = 10;

export type QueryKey = { readonly tenant: TenantId; readonly principal: PrincipalId; readonly queryId: QueryId };

/** A statement from its arrival to its end. */
export interface LiveStatement {
  readonly key: QueryKey;
  /** The person's sign-in by which it runs; absent for those of machines. */
  readonly signIn?: string | undefined;
  readonly liveState: LiveState;
  live(): LiveQuery;
  /** How its queries have run so far, as JSON; null when it has planned none. */
  profileNow(): string | null;
  /** Id of its history record. */
  readonly recordId: string;
  /** Ends the statement; false when it was told before. */
  cancel(reason: SkeinError): boolean;
}

/** The statements of a tenant that a caller asks for; null = all. */
export type LiveFilter = {
  readonly tenant: TenantId;
  readonly principal: PrincipalId | null;
  readonly state: LiveState | null;
  /** Most statements that are described. */
  readonly limit: number;
};

/** `total` counts all statements that match, also beyond the limit. */
export type LiveList = { readonly queries: readonly LiveQuery[]; readonly total: number };

export type NumberedStatement = { readonly pid: number; readonly statement: LiveStatement };

/** The statements that wait or run now, by owner and id, so that no caller finds another's. */
export class QueryRegistry {
  /** In the order of their arrival. */
  readonly #live = new Map<string, LiveStatement>();
  /** The number of its connection, or one of its own. */
  readonly #pids = new WeakMap<LiveStatement, number>();

  get size(): number {
    return this.#live.size;
  }

  /** `pid`: the number of the connection that it has come by. @throws INVALID_REQUEST when a statement of this owner and id is live. */
  add(statement: LiveStatement, pid = statementPid()): void {
    const text = keyText(statement.key);
    if (this.#live.has(text)) {
      throw new SkeinError('INVALID_REQUEST', `a query with the id ${statement.key.queryId} is running`);
    }
    this.#live.set(text, statement);
    this.#pids.set(statement, pid);
  }

  remove({ key }: LiveStatement): void {
    this.#live.delete(keyText(key));
  }

  /** The statements that match, the oldest first. */
  list({ tenant, principal, state, limit }: LiveFilter): LiveList {
    const found = [...this.#live.values()].filter(
      ({ key, liveState }) =>
        key.tenant === tenant &&
        (principal === null || key.principal === principal) &&
        (state === null || liveState === state),
    );
    return { queries: found.slice(0, limit).map((statement) => statement.live()), total: found.length };
  }

  /** The statements that match with their numbers: those of one connection have the same. */
  numbered({ tenant, principal }: Pick<LiveFilter, 'tenant' | 'principal'>): readonly NumberedStatement[] {
    return [...this.#live.values()]
      .filter(({ key }) => key.tenant === tenant && (principal === null || key.principal === principal))
      .map((statement) => ({ pid: this.#pids.get(statement) ?? 0, statement }));
  }

  /** The principals of a tenant that have a live statement of this id: clients choose ids, so several may. */
  ownersOf(tenant: TenantId, queryId: QueryId): readonly PrincipalId[] {
    const keys = [...this.#live.values()].map(({ key }) => key);
    return keys.filter((key) => key.tenant === tenant && isSameId(key.queryId, queryId)).map((key) => key.principal);
  }

  find(key: QueryKey): LiveQuery | null {
    return this.#live.get(keyText(key))?.live() ?? null;
  }

  /** How a statement has run so far; undefined when it is not live, or another of the same id is. */
  profileOf(key: QueryKey, recordId: string): string | null | undefined {
    const found = this.#live.get(keyText(key));
    return found?.recordId === recordId ? found.profileNow() : undefined;
  }

  /** False when no such statement is live. */
  cancel(key: QueryKey, reason: SkeinError): boolean {
    return this.#live.get(keyText(key))?.cancel(reason) ?? false;
  }

  /** Resolves when no statement is live any more, or after `timeoutMs`. */
  async empty(timeoutMs: number): Promise<void> {
    const end = performance.now() + timeoutMs;
    while (this.#live.size > 0 && performance.now() < end) await sleep(EMPTY_POLL_MS);
  }

  /** Ends all that the principal runs. */
  cancelOf(principal: PrincipalId, reason: SkeinError): void {
    for (const statement of this.#live.values()) if (statement.key.principal === principal) statement.cancel(reason);
  }

  /** Ends all that runs by one sign-in of a person. */
  cancelSignIn(signIn: string, reason: SkeinError): void {
    for (const statement of this.#live.values()) if (statement.signIn === signIn) statement.cancel(reason);
  }

  cancelAll(reason: SkeinError): void {
    for (const statement of this.#live.values()) statement.cancel(reason);
  }
}

const isSameId = (one: QueryId, other: QueryId): boolean => one.toLowerCase() === other.toLowerCase();

const keyText = ({ tenant, principal, queryId }: QueryKey): string =>
  JSON.stringify([tenant, principal, queryId.toLowerCase()]);
