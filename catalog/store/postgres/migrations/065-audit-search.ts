/** The audit log is searched by who acted and by what was acted on; by event and by the target's id it could be before. */
export const AUDIT_SEARCH_MIGRATION: readonly string[] = [
  `create index user_audit_log_actor on catalog.user_audit_log (tenant_id, actor_id, created_at, id)`,
  `create index user_audit_log_target_name on catalog.user_audit_log (tenant_id, target_name, created_at, id)`,
];
