import type { CatalogContext } from '../../../context.ts';
import { createTable as create } from '../../../commit/commit-table.ts';
import { parseCreateTable } from '../../../commit/new-table.ts';
import { checkName, namespaceOf } from '../../names.ts';
import type { Answer, RestRequest } from '../../operation.ts';
import { loadTableAnswer } from './table-answer.ts';

/** `POST /v1/{prefix}/namespaces/{namespace}/tables`; with `stage-create` nothing durable is made. */
export async function createTable(context: CatalogContext, request: RestRequest): Promise<Answer> {
  const body = parseCreateTable(request.body);
  const ident = { namespace: namespaceOf(request.params['namespace'] ?? ''), name: checkName(body.name, 'table') };
  const target = { claims: request.claims, catalog: request.params['prefix'] ?? '', ident };
  return loadTableAnswer(await create(context, target, body), 'all');
}
