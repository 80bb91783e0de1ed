import { SkeinError } from '#shared/error.ts';
import { principalId, type PrincipalId, type QueryId } from '#shared/id.ts';
import { mayDo, type Caller } from '../auth/authenticate.ts';
import type { LiveQuery, LiveState } from '../operation/live-query.ts';
import type { LiveList, QueryRegistry } from './query-registry.ts';

/** The filters of a list; null = no filter: every query that the caller may see. */
export type LiveRequest = { readonly state: LiveState | null; readonly owner: string | null; readonly limit: number };

/**
 * Lists statements that wait or run now. A principal sees its own, an administrator those of the tenant; for anybody else's the list is
 * empty, as if there were none.
 */
export function liveQueries(registry: QueryRegistry, caller: Caller, { state, owner, limit }: LiveRequest): LiveList {
  const { tenant, sub } = caller.claims;
  const seesAll = mayDo(caller, 'query.list');
  if (owner !== null && owner !== sub && !seesAll) return { queries: [], total: 0 };
  const principal = owner === null ? (seesAll ? null : sub) : principalId(owner);
  return registry.list({ tenant, principal, state, limit });
}

type NamedQuery = { readonly queryId: QueryId; readonly owner: string | null };

/** Finds a statement: a principal its own, an administrator any of the tenant. @throws as `cancelQuery` */
export function findQuery(registry: QueryRegistry, caller: Caller, named: NamedQuery): LiveQuery | null {
  const { tenant, sub } = caller.claims;
  const { queryId, owner } = named;
  const own = owner === null || owner === sub ? registry.find({ tenant, principal: sub, queryId }) : null;
  if (own !== null || !mayDo(caller, 'query.list')) return own;
  const [other] = othersOf(registry, caller, named);
  return other === undefined ? null : registry.find({ tenant, principal: other, queryId });
}

/**
 * Cancels a statement: a principal its own, an administrator any of the tenant. False when there is none that the caller may cancel.
 * @throws INVALID_REQUEST when `owner` is null and several other principals have a statement of this id
 */
export function cancelQuery(registry: QueryRegistry, caller: Caller, { queryId, owner }: NamedQuery): boolean {
  const { tenant, sub } = caller.claims;
  const byUser = new SkeinError('QUERY_CANCELLED', 'the query was cancelled by its user');
  const isOwn = owner === null || owner === sub;
  if (isOwn && registry.cancel({ tenant, principal: sub, queryId }, byUser)) return true;
  if (!mayDo(caller, 'query.cancel')) return false;
  const byAdmin = new SkeinError('QUERY_CANCELLED', 'the query was cancelled by an administrator');
  return othersOf(registry, caller, { queryId, owner }).some((principal) =>
    registry.cancel({ tenant, principal, queryId }, byAdmin),
  );
}

/** The other principals of the tenant, one at most, who have a statement of this id. @throws INVALID_REQUEST when several have */
function othersOf(registry: QueryRegistry, caller: Caller, { queryId, owner }: NamedQuery): readonly PrincipalId[] {
  const { tenant, sub } = caller.claims;
  const owners = registry.ownersOf(tenant, queryId).filter((one) => one !== sub && (owner === null || one === owner));
  if (owners.length <= 1) return owners;
  throw new SkeinError('INVALID_REQUEST', 'several principals have a query of this id: name one with user_id');
}
