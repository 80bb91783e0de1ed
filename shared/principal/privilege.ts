/** Privileges that a tenant_admin delegates (service specification, Privileges). */
export const PRIVILEGES = ['MANAGE USERS', 'MANAGE PATS', 'MANAGE SERVICE ACCOUNTS'] as const;
export type Privilege = (typeof PRIVILEGES)[number];
