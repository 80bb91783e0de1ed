/** Privileges that a tenant_admin delegates (service specification, Privileges). */
export type Privilege = 'MANAGE USERS' | 'MANAGE PATS' | 'MANAGE SERVICE ACCOUNTS';
