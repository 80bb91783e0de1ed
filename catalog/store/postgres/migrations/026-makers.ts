const MADE_BY = `(
    select l.actor_id from catalog.user_audit_log l
    where l.target_id = p.id and l.actor_id <> p.id`;
const NEWEST = 'order by l.created_at desc, l.id desc limit 1)';

/**
 * The maker of each credential: a password, an invitation, a token, a key. Null is the operator, or the principal itself; of those that are
 * there already the audit log knows it. Keys are bounded by scopes from now on; null is those of the account's roles.
 */
export const MAKERS_MIGRATION: readonly string[] = [
  `alter table catalog.principal add column password_set_by uuid`,
  // A legal hold that a tenant_admin has set. Those from before are left to a tenant_admin.
  `alter table catalog.principal add column legal_hold_by_admin boolean not null default false`,
  `update catalog.principal set legal_hold_by_admin = legal_hold`,
  `alter table catalog.invitation add column created_by uuid`,
  `alter table catalog.access_token add column given_by uuid`,
  `alter table catalog.keypair add column created_by uuid, add column scopes text[]`,
  `create index if not exists user_audit_log_target on catalog.user_audit_log (target_id, created_at)`,
  `update catalog.principal p set password_set_by = ${MADE_BY} and l.event_type in ('create_user', 'set_password') ${NEWEST}
    where p.password_hash is not null`,
  `update catalog.invitation i set created_by = ${MADE_BY} and l.event_type = 'create_user' ${NEWEST}
    from catalog.principal p where p.id = i.principal_id`,
  // A token that somebody has made for himself, by a password that another has given.
  `update catalog.access_token a set given_by = p.password_set_by
    from catalog.principal p where p.id = a.principal_id and a.created_by = p.id`,
  `update catalog.keypair k set created_by = ${MADE_BY} and l.event_type = 'add_keypair'
      and l.details ->> 'key_id' = k.key_id ${NEWEST}
    from catalog.principal p where p.id = k.principal_id`,
];
