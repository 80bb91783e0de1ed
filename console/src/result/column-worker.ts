import { columnFacts, type ColumnFacts } from './column-facts.ts';
import { ResultSet } from './result-set.ts';

/** Looks at columns beside the page, which goes on drawing. The first message has the rows, each further one a column. */
export type ColumnRequest =
  | { readonly kind: 'rows'; readonly messages: readonly Uint8Array[]; readonly rowCount: number }
  | { readonly kind: 'column'; readonly column: number };
export type ColumnAnswer = { readonly column: number; readonly facts: ColumnFacts };

const result = new ResultSet();
addEventListener('message', ({ data }: MessageEvent<ColumnRequest>) => {
  if (data.kind === 'column') {
    const { column } = data;
    postMessage({ column, facts: columnFacts(result, column) } satisfies ColumnAnswer);
    return;
  }
  for (const [at, bytes] of data.messages.entries()) result.add({ bytes, isSchema: at === 0 });
  result.cut(data.rowCount);
});
