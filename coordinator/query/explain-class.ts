import { parseJson, printJson, type JsonObject } from '#shared/json.ts';
import type { ExplainFormat } from '../operation/explain-options.ts';
import type { PreparedQuery } from '../binding/prepared-query.ts';
import { setting } from '../session/session.ts';
import { classifyQuery } from './classify-query.ts';
import type { RunningStatement } from './running-statement.ts';
import { classJson, printClass, type Classification } from '../workload/classify.ts';

/** The class that a query would have now. */
export function classOf(
  query: PreparedQuery,
  { services, request, active, session }: RunningStatement,
): Promise<Classification> {
  const { tables, config } = services;
  const options = { setting: setting(session, 'service.workload_class', config) };
  return classifyQuery(query, options, { tables, tenant: request.caller.claims.tenant, signal: active.signal });
}

/** An explained plan with the query's class: as its last line, or as a member of the document. */
export function withClass(
  lines: readonly string[],
  classification: Classification,
  format: ExplainFormat,
): readonly string[] {
  if (format === 'text') return [...lines, '', printClass(classification)];
  const document = parseJson(lines.join('\n')) as JsonObject;
  return [printJson({ ...document, ...classJson(classification) }, 2)];
}
