/**
 * A member of a table's change in a commit between services, beside those of the REST specification: `LoadedTable.policy_version` as the
 * statements of a transaction read it. When it is another by now, the commit is COMMIT_CONFLICT.
 */
export const POLICY_VERSION = 'policy-version';

/** `LoadedTable.policy_version` of a table that nothing is bound to, for whoever asks. */
export const NO_POLICY_VERSION = '0';
