import { callJson } from '../api/call.ts';

/** The answer to a statement, as JSON. */
export type StatementAnswer = {
  readonly columns: readonly string[];
  readonly types: readonly string[];
  readonly rows: readonly (readonly unknown[])[];
  readonly row_count: number;
  readonly elapsed_ms: number;
};

/** A statement that a form has made. What is secret is no part of the text, and goes as a parameter. */
export type MadeStatement = { readonly sql: string; readonly secrets?: readonly string[] };

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
