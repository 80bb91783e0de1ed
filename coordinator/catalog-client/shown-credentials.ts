/** A user and its password, as a client shows them at a door. */
export type ShownCredentials = {
  readonly user: string;
  readonly password: string;
  /** Empty = the first. */
  readonly tenant: string;
  /** The client's, without its port. */
  readonly address: string;
  /** The program, as it names itself; empty = it does not. */
  readonly agent: string;
};
