import { SkeinError } from '#shared/error.ts';
import type { Candidate } from '#shared/membership/election.ts';

/** The error of a coordinator that does not lead; clients may follow its `leader`, when that is known. */
export class NotActive extends SkeinError {
  /** URL under which clients reach the active coordinator; undefined = not known. */
  readonly leader: string | undefined;

  constructor(leader: Candidate | undefined) {
    const isKnown = leader !== undefined && leader.url !== '';
    super('NOT_ACTIVE', `this coordinator is a standby, ${isKnown ? leader.url : 'another one'} is active`);
    this.leader = isKnown ? leader.url : undefined;
  }
}
