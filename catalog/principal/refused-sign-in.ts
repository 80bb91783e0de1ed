import { SkeinError } from '#shared/error.ts';

/** Why a sign-in was refused; the audit log alone is told. */
export type RefusalReason = 'wrong' | 'unknown' | 'locked' | 'not active' | 'not trusted';

/** The one answer to everybody who is refused, whatever the reason. */
export class RefusedSignIn extends SkeinError {
  readonly reason: RefusalReason;

  constructor(reason: RefusalReason, message: string) {
    super('WRONG_PASSWORD', message);
    this.reason = reason;
  }
}

/** The reason of a refusal as the audit log has it. */
export function reasonOf(error: unknown): string {
  if (error instanceof RefusedSignIn) return error.reason;
  return error instanceof SkeinError && error.code === 'TOO_MANY_SIGN_INS' ? 'too many' : 'wrong';
}
