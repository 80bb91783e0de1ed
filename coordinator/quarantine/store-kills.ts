import type { Kysely } from 'kysely';
import { principalId, tenantId } from '#shared/id.ts';
import type { HistoryDatabase } from '../history/history-database.ts';
import type { KillStore } from './quarantine.ts';

/** Kills in `coordinator.quarantine`. */
export const storeKills = (db: Kysely<HistoryDatabase>): KillStore => ({
  load: async () => {
    const rows = await db.selectFrom('quarantine').selectAll().orderBy('killed_at').execute();
    return rows.map((row) => ({
      id: row.id,
      tenant: tenantId(row.tenant_id),
      principal: principalId(row.user_id),
      username: row.username,
      fingerprint: row.fingerprint,
      sql: row.sql,
      reason: row.reason,
      killedAtMs: row.killed_at.getTime(),
      untilMs: row.until.getTime(),
    }));
  },
  add: async (kill) => {
    await db
      .insertInto('quarantine')
      .values({
        id: kill.id,
        tenant_id: kill.tenant,
        user_id: kill.principal,
        username: kill.username,
        fingerprint: kill.fingerprint,
        sql: kill.sql,
        reason: kill.reason,
        killed_at: new Date(kill.killedAtMs),
        until: new Date(kill.untilMs),
      })
      .execute();
  },
  remove: async (id) => {
    await db.deleteFrom('quarantine').where('id', '=', id).execute();
  },
});
