import { must } from '#shared/must.ts';
import type { Cluster } from './cluster.ts';

/** Statements that may change what a user's tokens say, or end them. */
const ABOUT_PRINCIPALS = /^(?!SHOW|DESCRIBE|USE\b).*\b(?:USER|ROLE|ACCOUNT|TOKEN)\b/s;

/**
 * Runs statements of a tenant's users: `done`, or the SQLSTATE of the refusal. To make a token costs as much as a statement, so each is kept
 * until a statement about principals was done.
 */
export function statementOutcomes(cluster: Cluster, tenant: string): (user: string, sql: string) => Promise<string> {
  const tokens = new Map<string, string>();
  return async (user, sql) => {
    const token = tokens.get(user) ?? (await cluster.token({ tenant, user }));
    tokens.set(user, token);
    const { body } = await cluster.query(sql, { token });
    if (body.error !== undefined) return must(body.sql_state, body.error);
    if (ABOUT_PRINCIPALS.test(sql)) tokens.clear();
    return 'done';
  };
}
