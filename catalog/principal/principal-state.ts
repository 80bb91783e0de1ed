import type { ErrorCode } from '#shared/error.ts';

/**
 * The life of a user (service specification, States and transitions):
 *
 * ```
 *   create with password ──> ACTIVE <──unsuspend── SUSPENDED          drop, from any
 *                              │ ^ ────suspend────────>^          ┌──> DEACTIVATED ──sweep, expunge──> ARCHIVED
 *                              │ └─────────────undrop─────────────────────┘
 *   create without ──> INVITED ┘redeem
 * ```
 * ARCHIVED is stored as DEACTIVATED with `archived_at`: the row stays, but its name and all that is personal have gone. LOCKED is no state:
 * it follows from the failures of sign-ins. PROVISIONED is ACTIVE of one whom an identity provider has made; back from SUSPENDED or
 * DEACTIVATED he is ACTIVE.
 */
export type PrincipalState =
  | { readonly status: 'ACTIVE' | 'INVITED' | 'SUSPENDED' | 'PROVISIONED'; readonly legalHold: boolean }
  | {
      readonly status: 'DEACTIVATED';
      readonly legalHold: boolean;
      readonly isBootstrap: boolean;
      readonly deactivatedAtMs: number;
    }
  | { readonly status: 'ARCHIVED' };

export type PrincipalEvent =
  | { readonly kind: 'redeem' }
  | { readonly kind: 'suspend' }
  | { readonly kind: 'unsuspend' }
  | { readonly kind: 'drop'; readonly atMs: number; readonly isBootstrap: boolean }
  | { readonly kind: 'undrop' }
  | { readonly kind: 'expunge' }
  /** The sweeper looks at a user; its window is `archiveAfterMs`. */
  | { readonly kind: 'sweep'; readonly atMs: number; readonly archiveAfterMs: number }
  | { readonly kind: 'set password' }
  /** A new name, email, text or flag. */
  | { readonly kind: 'change' };

/** The next state and whether the principal's tokens end with it, or why the event is refused. */
export type Transition =
  | { readonly state: PrincipalState; readonly endsTokens: boolean }
  | { readonly refused: ErrorCode; readonly because: string };

const refused = (because: string): Transition => ({ refused: 'INVALID_STATE', because });

/** Returns what an event makes of a user; refuses what the specification's table does not have. */
export function next(state: PrincipalState, event: PrincipalEvent): Transition {
  if (state.status === 'ARCHIVED') return { refused: 'PRINCIPAL_NOT_FOUND', because: 'the user is gone for good' };
  const { status, legalHold } = state;
  switch (event.kind) {
    case 'redeem':
      if (status !== 'INVITED') return { refused: 'InvalidInvitation', because: 'the invitation is not valid' };
      return { state: { status: 'ACTIVE', legalHold }, endsTokens: true };
    case 'suspend':
      if (status !== 'ACTIVE' && status !== 'PROVISIONED')
        return refused(`only an active user can be suspended, and this one is ${status}`);
      return { state: { status: 'SUSPENDED', legalHold }, endsTokens: true };
    case 'unsuspend':
      if (status !== 'SUSPENDED') return refused(`the user is not suspended but ${status}`);
      return { state: { status: 'ACTIVE', legalHold }, endsTokens: false };
    case 'drop':
      if (status === 'DEACTIVATED') return { state, endsTokens: true };
      return {
        state: { status: 'DEACTIVATED', legalHold, isBootstrap: event.isBootstrap, deactivatedAtMs: event.atMs },
        endsTokens: true,
      };
    case 'undrop':
      if (status !== 'DEACTIVATED') return refused(`the user is not dropped but ${status}`);
      return { state: { status: 'ACTIVE', legalHold }, endsTokens: false };
    case 'expunge':
      if (status !== 'DEACTIVATED') return refused(`only a dropped user can be expunged, and this one is ${status}`);
      if (legalHold) return { refused: 'LegalHoldActive', because: 'the user is under legal hold' };
      return { state: { status: 'ARCHIVED' }, endsTokens: true };
    case 'sweep':
      if (status !== 'DEACTIVATED' || legalHold || state.isBootstrap) return { state, endsTokens: false };
      if (event.atMs - state.deactivatedAtMs < event.archiveAfterMs) return { state, endsTokens: false };
      return { state: { status: 'ARCHIVED' }, endsTokens: true };
    case 'set password':
      if (status === 'INVITED') return refused('the user sets a password by redeeming the invitation');
      return status === 'DEACTIVATED' ? refused('the user is dropped') : { state, endsTokens: true };
    case 'change':
      return status === 'DEACTIVATED' ? refused('the user is dropped') : { state, endsTokens: false };
  }
}
