import type { Config } from '#shared/config/config-schema.ts';
import { withClient } from './connect.ts';

/** Key of the advisory lock that lets only one catalog process at a time migrate and bootstrap. */
const STARTUP_LOCK = 5_324_001;

/** Runs `work` while no other catalog process does. */
export function underStartupLock<T>(config: Config, work: () => Promise<T>): Promise<T> {
  return withClient(config, async (client) => {
    await client.query('select pg_advisory_lock($1)', [STARTUP_LOCK]);
    return work();
  });
}
