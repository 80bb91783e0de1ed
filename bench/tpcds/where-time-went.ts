import type { QueryRunProfile } from '#coordinator/profile/profile-types.ts';
import type { Cluster } from '#test/support/cluster.ts';

type Profile = { readonly queries?: readonly QueryRunProfile[] };

/**
 * Says in a line where the time of a statement went, by its profile: planning, listing files and dividing, what the longest task of each
 * stage computed, and the rest: tasks and their reports on their way, inputs that are fetched, HTTP.
 */
export async function whereTimeWent(cluster: Cluster, queryId: string, elapsedMs: number): Promise<string> {
  const headers = { authorization: `Bearer ${await cluster.token()}` };
  const answer = await fetch(`${cluster.queryUrl}/api/query-history/${queryId}/profile`, { headers });
  const { queries = [] } = (await answer.json()) as Profile;
  const stages = queries.flatMap((query) => query.stages);
  const planMs = sum(queries.map((query) => query.planMs));
  const distributeMs = sum(queries.map((query) => query.distributeMs));
  const computedMs = sum(stages.map(({ tasks }) => Math.max(0, ...tasks.map((task) => task.scheduledMs ?? 0))));
  const restMs = Math.max(0, elapsedMs - planMs - distributeMs - computedMs);
  const parts = [
    `${planMs.toFixed(0)} planned`,
    `${distributeMs.toFixed(0)} divided`,
    `${computedMs.toFixed(0)} computed in ${stages.length} stages`,
    `${restMs.toFixed(0)} between and beside them`,
  ];
  return `${elapsedMs.toFixed(0)} ms: ${parts.join(', ')}`;
}

const sum = (values: readonly number[]): number => values.reduce((a, b) => a + b, 0);
