/**
 * An identity provider that is dropped or disabled stops whom it has signed in: the statements that they run end, as with a suspension. SCIM
 * keeps what the provider has said last, so that it lets nobody back whom an administrator has suspended here, and finds whom a provider signs in by the id that SCIM has for him.
 */
export const STOPPED_BY_PROVIDER_MIGRATION: readonly string[] = [
  // The session epoch whose beginning has ended all that ran before it.
  `alter table catalog.principal add stopped_epoch integer`,
  `create or replace function catalog.notify_session_epoch() returns trigger language plpgsql as $$
  begin
    perform pg_notify('skein_session_epoch', json_build_object(
      'principal', new.id, 'epoch', new.session_epoch, 'stopped',
      new.status in ('SUSPENDED', 'DEACTIVATED') or new.stopped_epoch is not distinct from new.session_epoch)::text);
    return null;
  end $$`,
  `alter table catalog.scim_user add active boolean not null default true`,
  `update catalog.scim_user s set active = false from catalog.principal p
    where p.id = s.principal_id and p.status = 'SUSPENDED'`,
  // The provider's id of the person in SCIM; of most providers it is the subject.
  `alter table catalog.principal_identity add external_id text collate "C"`,
  `update catalog.principal_identity set external_id = subject`,
  `alter table catalog.principal_identity alter external_id set not null`,
  `create index on catalog.principal_identity (provider_id, external_id)`,
];
