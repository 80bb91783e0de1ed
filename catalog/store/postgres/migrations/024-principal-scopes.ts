const BEFORE = `array['catalog:read', 'catalog:write', 'namespace:read', 'namespace:write', 'table:read', 'table:write', 'table:data']`;
const OURS = `array['principal:read', 'principal:write']`;
const PUBLIC = `array['catalog:read', 'namespace:read', 'namespace:write', 'table:read', 'table:write', 'table:data']`;

/**
 * The scopes of statements about others. The role `tenant_admin` has them; a client and a token that had every scope before, and so were not
 * narrowed, keep every one.
 */
export const PRINCIPAL_SCOPES_MIGRATION: readonly string[] = [
  `create or replace function catalog.make_built_in_roles() returns trigger language plpgsql as $$
  begin
    insert into catalog.role (tenant_id, name, scopes, comment, is_built_in) values
      (new.id, 'tenant_admin', ${BEFORE} || ${OURS}, 'allows everything in the organisation', true),
      (new.id, 'public', ${PUBLIC}, 'everybody has it', true);
    return null;
  end $$`,
  `update catalog.role set scopes = scopes || ${OURS} where is_built_in and name = 'tenant_admin'`,
  ...['oauth_client', 'access_token'].map(
    (table) => `update catalog.${table} set scopes = scopes || ${OURS} where scopes @> ${BEFORE}`,
  ),
];
