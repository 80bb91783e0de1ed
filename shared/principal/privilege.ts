/** Privileges that a tenant_admin delegates (service specification, Privileges). */
export const PRIVILEGES = [
  'MANAGE USERS',
  'MANAGE PATS',
  'MANAGE SERVICE ACCOUNTS',
  /** Row-access and masking policies, and what they are bound to. Whoever sets bodies is as strong as one who is exempt. */
  'MANAGE POLICIES',
  /** Identity providers of the organisation; what they sign in stays theirs, and no holder takes over an administrator by one. */
  'MANAGE IDENTITY PROVIDERS',
  /** The one exemption from policies. */
  'BYPASS POLICIES',
] as const;
export type Privilege = (typeof PRIVILEGES)[number];
