import { must } from '#shared/must.ts';
import type { CatalogContext } from '../../../context.ts';
import { commitTables } from '../../../commit/commit-tables.ts';
import { parseCommit } from '../../../metadata/commit-metadata.ts';
import { COMMIT_CREATES, sourceOfCommit, type CommitSource } from '../../../metadata/commit-source.ts';
import { runDocumentTask } from '../../../metadata/document-task.ts';
import { tableTarget } from '../../request-names.ts';
import { largeBody, type Answer, type RestRequest } from '../../rest-operation.ts';
import { loadTableAnswer } from './table-answer.ts';
import { NO_ACCESS } from '../../table-access.ts';
import type { UnitOfWork } from '../../../store/postgres/transact.ts';

/** `POST /v1/{prefix}/namespaces/{namespace}/tables/{table}`: commits to a table. */
export async function updateTable(context: CatalogContext, request: RestRequest, unit: UnitOfWork): Promise<Answer> {
  const { isOfClient } = request;
  const source = await commitSource(context, request);
  const change = { target: tableTarget(request), source, ...(isOfClient === true ? { isOfClient } : {}) };
  const [table] = await commitTables(context, unit, [change]);
  return loadTableAnswer(must(table, 'one change, one table'), 'all', NO_ACCESS);
}

async function commitSource({ readers }: CatalogContext, request: RestRequest): Promise<CommitSource> {
  const { large, body } = request;
  if (large === undefined) return sourceOfCommit(parseCommit(body));
  return { creates: await runDocumentTask(readers, COMMIT_CREATES, large, largeBody(request)), bytes: large };
}
