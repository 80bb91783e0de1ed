import { parseJson, printJson, type JsonObject } from '#shared/json.ts';

/** No text of a statement has these quotes in a profile, which escapes them. */
const SHOWN = '"showsPolicies":true';

/**
 * A profile for a reader who may not manage policies: one with what is below the policies of a table, because it was made of a statement of
 * somebody who may, has no queries for him. Any other stays as it is.
 */
export function withoutPolicies(profile: string): string {
  if (!profile.includes(SHOWN)) return profile;
  const { workload, queries = [], queriesOmitted = 0, ...rest } = parseJson(profile) as JsonObject;
  const omitted = Number(queriesOmitted) + (queries as readonly unknown[]).length;
  const told = { ...(workload as JsonObject), reasons: [], estimatedRows: null };
  return printJson({ ...rest, workload: told, queries: [], queriesOmitted: omitted, isCut: true });
}
