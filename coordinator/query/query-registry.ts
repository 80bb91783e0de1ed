import { setTimeout as sleep } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalId, QueryId, TenantId } from '#shared/id.ts';

/** Only at the end of a term, so nobody waits for it in a query's path. */
const EMPTY_POLL_MS = 10;

export type QueryKey = { readonly tenant: TenantId; readonly principal: PrincipalId; readonly queryId: QueryId };

/** The statements that run or wait now, by owner and id, so that no caller finds another's. */
export class QueryRegistry {
  readonly #active = new Map<string, AbortController>();

  get size(): number {
    return this.#active.size;
  }

  /** @throws INVALID_REQUEST when a statement of this id is active. */
  add(key: QueryKey, abort: AbortController): void {
    const text = keyText(key);
    if (this.#active.has(text)) {
      throw new SkeinError('INVALID_REQUEST', `a query with the id ${key.queryId} is running`);
    }
    this.#active.set(text, abort);
  }

  remove(key: QueryKey): void {
    this.#active.delete(keyText(key));
  }

  /** False when no such statement is active. */
  cancel(key: QueryKey, reason: SkeinError): boolean {
    const abort = this.#active.get(keyText(key));
    if (abort === undefined || abort.signal.aborted) return false;
    abort.abort(reason);
    return true;
  }

  /** Resolves when no statement is active any more, or after the time. */
  async empty(timeoutMs: number): Promise<void> {
    const end = performance.now() + timeoutMs;
    while (this.#active.size > 0 && performance.now() < end) await sleep(EMPTY_POLL_MS);
  }

  cancelAll(reason: SkeinError): void {
    for (const abort of this.#active.values()) abort.abort(reason);
  }
}

const keyText = ({ tenant, principal, queryId }: QueryKey): string =>
  JSON.stringify([tenant, principal, queryId.toLowerCase()]);
