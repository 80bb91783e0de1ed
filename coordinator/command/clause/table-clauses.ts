import type { StatementReader } from '../../statement/statement-reader.ts';
import { takeComment } from './comment.ts';
import { takeProperties, type Properties } from './properties.ts';
import { takePartitionedBy, takeSortedBy, type PartitionClause, type SortClause } from './transform.ts';

/** The clauses of a new table behind its columns; undefined for those that are absent. */
export type TableClauses = {
  readonly partitionedBy?: readonly PartitionClause[];
  readonly sortedBy?: readonly SortClause[];
  readonly comment?: string;
  readonly properties?: Properties;
};

/** Reads `PARTITIONED BY (...)`, `SORTED BY (...)`, `COMMENT 'text'` and `WITH (...)` in any order, each once. @throws SYNTAX_ERROR */
export function takeTableClauses(reader: StatementReader): TableClauses {
  let clauses: TableClauses = {};
  for (;;) {
    const next = takeClause(reader);
    if (next === undefined) return clauses;
    const [name] = Object.keys(next);
    if (name !== undefined && Object.hasOwn(clauses, name)) {
      throw reader.error('SYNTAX_ERROR', `the clause before this place stands twice`);
    }
    clauses = { ...clauses, ...next };
  }
}

function takeClause(reader: StatementReader): TableClauses | undefined {
  if (reader.takeWords('PARTITIONED', 'BY')) return { partitionedBy: takePartitionedBy(reader) };
  if (reader.takeWords('SORTED', 'BY')) return { sortedBy: takeSortedBy(reader) };
  if (reader.peekWord() === 'WITH' && reader.peekSymbol('(', 1)) {
    reader.word();
    return { properties: takeProperties(reader) };
  }
  const comment = takeComment(reader);
  return comment === null ? undefined : { comment };
}
