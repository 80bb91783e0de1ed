import { SkeinError } from '#shared/error.ts';
import type { Candidate } from '#shared/membership/election.ts';

/** The error of a coordinator that does not lead; clients may follow its `leader`, when that is known. */
export class NotActive extends SkeinError {
  /** URL under which clients reach the active coordinator; undefined = not known. */
  readonly leader: string | undefined;

  constructor(leader: Candidate | undefined) {
    super('NOT_ACTIVE', `this coordinator is a standby: ${whoLeads(leader)}`);
    this.leader = leader === undefined || leader.url === '' ? undefined : leader.url;
  }
}

function whoLeads(leader: Candidate | undefined): string {
  if (leader === undefined) return 'it knows of none that leads now';
  return leader.url === '' ? 'another one leads' : `${leader.url} leads`;
}
