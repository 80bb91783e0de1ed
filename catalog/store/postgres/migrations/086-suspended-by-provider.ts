/**
 * A user keeps who has suspended him: an identity provider lets back by SCIM whom it has suspended, and nobody whom an administrator has. Where
 * the last word of a provider about one who is suspended already is that he is not active, it is taken to have been the provider, as before.
 */
export const SUSPENDED_BY_PROVIDER_MIGRATION: readonly string[] = [
  `alter table catalog.principal add suspended_by_provider boolean not null default false`,
  `update catalog.principal p set suspended_by_provider = true where p.status = 'SUSPENDED' and exists (
    select from catalog.scim_user s where s.principal_id = p.id and not s.active)`,
];
