import { SkeinError } from '#shared/error.ts';
import { next, type PrincipalEvent, type PrincipalState } from '../principal/principal-state.ts';
import { hasActiveAdmin, type PrincipalRecord } from '../store/postgres/principal-record-store.ts';
import { maySignIn } from '../store/postgres/principal-store.ts';
import { storeState } from '../store/postgres/principal-change-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import type { Changing } from './change.ts';

const stateOf = (user: PrincipalRecord): PrincipalState =>
  user.status === 'DEACTIVATED'
    ? {
        status: user.status,
        legalHold: user.legalHold,
        isBootstrap: user.isBootstrap,
        deactivatedAtMs: user.deactivatedAt?.getTime() ?? 0,
      }
    : { status: user.status, legalHold: user.legalHold };

/** The state after an event. @throws the refusal */
export function moved(
  user: PrincipalRecord,
  event: PrincipalEvent,
): { readonly state: PrincipalState; readonly endsTokens: boolean } {
  const transition = next(stateOf(user), event);
  if ('refused' in transition) throw new SkeinError(transition.refused, transition.because);
  return transition;
}

/** Lets an event happen to a user, but for what ARCHIVED removes. @param byProvider an identity provider suspends him @throws the refusal */
export async function moveUser(
  { tx, now }: Pick<Changing, 'tx' | 'now'>,
  user: PrincipalRecord,
  event: PrincipalEvent,
  byProvider = false,
): Promise<void> {
  const { state, endsTokens } = moved(user, event);
  const status = state.status === 'ARCHIVED' ? 'DEACTIVATED' : state.status;
  const droppedAt = state.status === 'DEACTIVATED' ? new Date(state.deactivatedAtMs) : null;
  const deactivatedAt = state.status === 'ARCHIVED' ? user.deactivatedAt : droppedAt;
  const suspendedByProvider =
    status === 'SUSPENDED' && (event.kind === 'suspend' ? byProvider : user.suspendedByProvider);
  await storeState(tx, user.id, { status, deactivatedAt, suspendedByProvider, endsTokens }, now);
}

/** Called after a change that may have taken the last one. @throws INVALID_STATE */
export async function requireAdminLeft(tx: Tx, tenantId: string, changed: PrincipalRecord): Promise<void> {
  if (!changed.isAdmin || !maySignIn(changed.status) || (await hasActiveAdmin(tx, tenantId))) return;
  throw new SkeinError('INVALID_STATE', 'this is the last active tenant_admin of the organisation');
}
