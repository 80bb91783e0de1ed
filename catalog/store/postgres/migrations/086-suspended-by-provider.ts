/**
 * Who has suspended a user: an identity provider by SCIM lets back whom it has suspended, and nobody whom an administrator has. Of users who are
 * suspended already it is taken to be the provider where its last word is that the user is not active, as before.
 */
export const SUSPENDED_BY_PROVIDER_MIGRATION: readonly string[] = [
  `alter table catalog.principal add suspended_by_provider boolean not null default false`,
  `update catalog.principal p set suspended_by_provider = true where p.status = 'SUSPENDED' and exists (
    select from catalog.scim_user s where s.principal_id = p.id and not s.active)`,
];
