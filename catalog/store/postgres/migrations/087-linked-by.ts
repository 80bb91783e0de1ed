/**
 * A link of a user with an identity keeps who had given the user the password by which it was made, as a factor does: he may be the one who has made
 * it. Of links that are there already, who has set the password is taken to have been the giver, unless a provider has made the user.
 */
export const LINKED_BY_MIGRATION: readonly string[] = [
  `alter table catalog.principal_identity add column given_by uuid`,
  `update catalog.principal_identity i set given_by = p.password_set_by
    from catalog.principal p where p.id = i.principal_id and p.identity_source <> 'EXTERNAL'`,
];
