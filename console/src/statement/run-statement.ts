import { callJson } from '../api/call.ts';
import type { MadeStatement, StatementAnswer } from './made-statement.ts';

type Options = { readonly queryId?: string; readonly session?: string; readonly signal?: AbortSignal };

/** Runs a statement as the reader's own, and answers its rows, which must be few. @throws ApiError */
export function runStatement({ sql, secrets = [] }: MadeStatement, options: Options = {}): Promise<StatementAnswer> {
  const { queryId, session, signal } = options;
  return callJson<StatementAnswer>('/api/query', {
    method: 'POST',
    body: { sql, ...(secrets.length === 0 ? {} : { parameters: secrets }) },
    headers: {
      'x-skein-source': 'console',
      ...(queryId === undefined ? {} : { 'x-skein-query-id': queryId }),
      ...(session === undefined ? {} : { 'x-skein-session': session }),
    },
    ...(signal === undefined ? {} : { signal }),
  });
}
