import { must } from '#shared/must.ts';
import type { CatalogContext } from '../../../context.ts';
import { commitTables } from '../../../commit/commit-tables.ts';
import { parseCommit } from '../../../commit/commit-metadata.ts';
import { tableTarget } from '../../names.ts';
import type { Answer, RestRequest } from '../../operation.ts';
import { loadTableAnswer } from './table-answer.ts';

/** `POST /v1/{prefix}/namespaces/{namespace}/tables/{table}`: a commit. */
export async function updateTable(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const change = { target: tableTarget(request), request: parseCommit(request.body) };
  const [table] = await commitTables(context, [change]);
  return loadTableAnswer(must(table, 'one change, one table'), 'all');
}
