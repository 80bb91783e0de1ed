/** The notification of a raised epoch tells whether the principal was suspended or dropped: then the statements that it runs end. */
export const STOPPED_PRINCIPALS_MIGRATION: readonly string[] = [
  `create or replace function catalog.notify_session_epoch() returns trigger language plpgsql as $$
  begin
    perform pg_notify('skein_session_epoch', json_build_object(
      'principal', new.id, 'epoch', new.session_epoch, 'stopped', new.status in ('SUSPENDED', 'DEACTIVATED'))::text);
    return null;
  end $$`,
];
