import type { StatementReader } from '../statement/statement-reader.ts';

/** Isolation levels that a transaction here is no weaker than: it reads one state of all tables. */
const WEAKER = [['READ', 'UNCOMMITTED'], ['READ', 'COMMITTED'], ['REPEATABLE', 'READ'], ['SNAPSHOT']] as const;

/**
 * `READ ONLY | READ WRITE | ISOLATION LEVEL level | [NOT] DEFERRABLE, ...` up to the end of the statement.
 * @returns whether the transaction may write; null = it does not say
 */
export function takeModes(reader: StatementReader): boolean | null {
  let mayWrite: boolean | null = null;
  for (let isFirst = true; !reader.atEnd(); isFirst = false) {
    if (!isFirst) reader.takeSymbol(',');
    if (reader.takeWords('READ', 'ONLY')) mayWrite = false;
    else if (reader.takeWords('READ', 'WRITE')) mayWrite = true;
    else if (reader.takeWords('ISOLATION', 'LEVEL')) takeLevel(reader);
    // It is about SERIALIZABLE alone.
    else if (!reader.takeWords('NOT', 'DEFERRABLE') && !reader.takeWord('DEFERRABLE')) {
      throw reader.expected('READ ONLY, READ WRITE or ISOLATION LEVEL');
    }
  }
  return mayWrite;
}

function takeLevel(reader: StatementReader): void {
  if (reader.peekWord() === 'SERIALIZABLE') {
    throw reader.error('NOT_SUPPORTED', 'transactions are not SERIALIZABLE: REPEATABLE READ is the highest level');
  }
  if (!WEAKER.some((words) => reader.takeWords(...words))) throw reader.expected('an isolation level');
}
