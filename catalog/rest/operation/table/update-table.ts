import type { CatalogContext } from '../../../context.ts';
import { commitTable } from '../../../commit/commit-table.ts';
import { parseCommit } from '../../../commit/commit-metadata.ts';
import { tableTarget } from '../../names.ts';
import type { Answer, RestRequest } from '../../operation.ts';
import { loadTableAnswer } from './table-answer.ts';

/** `POST /v1/{prefix}/namespaces/{namespace}/tables/{table}`: a commit. */
export async function updateTable(context: CatalogContext, request: RestRequest): Promise<Answer> {
  return loadTableAnswer(await commitTable(context, tableTarget(request), parseCommit(request.body)), 'all');
}
