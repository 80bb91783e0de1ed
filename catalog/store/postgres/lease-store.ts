import type { Pool } from 'pg';
import type { LeaseMessage, LeaseStore } from '../../lease/cache-leases.ts';
import type { Notifications } from './notifications.ts';

const CHANNEL = 'skein_cache_lease';

/**
 * The registrations, by the clock of Postgres, and messages between the catalog processes. Every change reads them: the statements are
 * prepared, and past registrations go with each renewal.
 */
export function leaseStore(
  pool: Pool,
  notifications: Notifications,
  heard: (message: LeaseMessage) => void,
): LeaseStore {
  notifications.follow({
    channel: CHANNEL,
    notified: (payload) => heard(JSON.parse(payload) as LeaseMessage),
    // Nothing to catch up with: a missed message costs its sender a wait as long as the lease, and no more.
    catchUp: () => Promise.resolve(),
  });
  return {
    get hears() {
      return notifications.isFollowing;
    },
    async register(process, leaseMs) {
      await pool.query({ name: 'register-lease', text: REGISTER, values: [process, leaseMs] });
    },
    async remove(process) {
      await pool.query({ name: 'remove-lease', text: REMOVE, values: [process] });
    },
    async others(process) {
      const { rows } = await pool.query<{ process: string; leaseMs: number }>({
        name: 'other-leases',
        text: OTHERS,
        values: [process],
      });
      return rows;
    },
    async notify(message) {
      await pool.query({ name: 'notify-lease', text: NOTIFY, values: [CHANNEL, JSON.stringify(message)] });
    },
  };
}

const REGISTER = `
  with past as (delete from catalog.cache_lease where process <> $1 and expires_at < clock_timestamp() - interval '1 hour')
  insert into catalog.cache_lease (process, lease_ms, expires_at)
  values ($1, $2, clock_timestamp() + $2::integer * interval '1 millisecond')
  on conflict (process) do update set lease_ms = excluded.lease_ms, expires_at = excluded.expires_at`;
const REMOVE = `delete from catalog.cache_lease where process = $1`;
const OTHERS = `
  select process, lease_ms as "leaseMs" from catalog.cache_lease where process <> $1 and expires_at > clock_timestamp()`;
const NOTIFY = `select pg_notify($1, $2)`;
