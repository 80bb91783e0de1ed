import type { Completion, CompletionContext, CompletionResult, CompletionSource } from '@codemirror/autocomplete';
import type { CompletionEntry } from '#coordinator/api/browse/browse-operations.ts';
import { statementAt } from '#shared/sql/split-statements.ts';
import { callJson } from '../api/call.ts';
import { quoteName } from './quote-name.ts';

const KINDS: Readonly<Record<string, string>> = {
  catalog: 'namespace',
  schema: 'namespace',
  table: 'class',
  view: 'interface',
  column: 'property',
  function: 'function',
  keyword: 'keyword',
};
/** Kinds whose label is a name of the data, which may need quotes. */
const NAMES = new Set(['catalog', 'schema', 'table', 'view', 'column']);

/** Proposals of the server for the statement in which the cursor stands. @param session of the tab */
export const serverCompletion =
  (session: () => string): CompletionSource =>
  async (context: CompletionContext): Promise<CompletionResult | null> => {
    const before = context.matchBefore(/[\w."$]+/);
    if (before === null && !context.explicit) return null;
    const text = context.state.doc.toString();
    const statement = statementAt(text, context.pos);
    const start = statement === undefined || statement.start > context.pos ? 0 : statement.start;
    const abort = new AbortController();
    context.addEventListener('abort', () => abort.abort(), { onDocChange: true });
    const answer = await callJson<CompletionEntry>('/api/complete', {
      method: 'POST',
      body: { sql: text.slice(start), position: context.pos - start },
      headers: { 'x-skein-session': session() },
      signal: abort.signal,
    }).catch(() => null);
    if (answer === null || answer.proposals.length === 0) return null;
    return { from: start + answer.from, options: answer.proposals.map(option), filter: false };
  };

const option = ({ label, kind, detail }: CompletionEntry['proposals'][number], at: number): Completion => ({
  label,
  type: KINDS[kind] ?? 'text',
  apply: NAMES.has(kind) ? quoteName(label) : label,
  boost: -at / 100,
  ...(detail === null ? {} : { detail }),
});
