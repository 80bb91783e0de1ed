import { unreachable } from '#shared/must.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import { statusResult } from '../operation/answer.ts';
import type { Command } from './command.ts';

type TransactionStatement =
  | { readonly kind: 'BEGIN'; readonly mayWrite: boolean }
  | { readonly kind: 'COMMIT' }
  | {
      readonly kind: 'ROLLBACK';
      /** The savepoint to go back to; null = all of the transaction. */ readonly to: string | null;
    };

const ENDS: Readonly<Record<string, 'COMMIT' | 'ROLLBACK'>> = {
  COMMIT: 'COMMIT',
  END: 'COMMIT',
  ROLLBACK: 'ROLLBACK',
  ABORT: 'ROLLBACK',
};

/** `BEGIN | START TRANSACTION [mode, ...]`, `COMMIT`, `ROLLBACK [TO [SAVEPOINT] name]`, and Postgres' synonyms of them */
export const transactionControl: Command<TransactionStatement> = {
  words: ['BEGIN', 'START', 'COMMIT', 'END', 'ROLLBACK', 'ABORT'],
  queryType: 'transaction',
  timeout: 'coordinator',
  parse(reader) {
    const word = reader.word();
    if (!reader.takeWord('TRANSACTION')) {
      if (word === 'START') throw reader.expected('TRANSACTION');
      reader.takeWord('WORK');
    }
    const end = ENDS[word];
    const statement =
      end === undefined
        ? ({ kind: 'BEGIN', mayWrite: takeModes(reader) } as const)
        : end === 'COMMIT'
          ? { kind: end }
          : { kind: end, to: word === 'ROLLBACK' ? takeSavepoint(reader) : null };
    reader.end();
    return statement;
  },
  action: () => null,
  async run(statement, { transactions, answer }) {
    switch (statement.kind) {
      case 'BEGIN':
        await transactions.begin(statement);
        break;
      case 'COMMIT':
        await transactions.commit();
        break;
      case 'ROLLBACK':
        if (statement.to === null) await transactions.rollBack();
        else await transactions.rollBackTo(statement.to);
        break;
      default:
        return unreachable(statement);
    }
    return answer(statusResult(statement.kind));
  },
};

/** `TO [SAVEPOINT] name`, if it comes */
function takeSavepoint(reader: StatementReader): string | null {
  if (!reader.takeWord('TO')) return null;
  if (!reader.atEnd(1)) reader.takeWord('SAVEPOINT');
  return reader.name('a savepoint', 1).parts.join('');
}

/** Isolation levels that a transaction here is no weaker than: it reads one state of all tables. */
const WEAKER = [['READ', 'UNCOMMITTED'], ['READ', 'COMMITTED'], ['REPEATABLE', 'READ'], ['SNAPSHOT']] as const;

/** @returns whether the transaction may write */
function takeModes(reader: StatementReader): boolean {
  let mayWrite = true;
  for (let isFirst = true; !reader.atEnd(); isFirst = false) {
    if (!isFirst) reader.takeSymbol(',');
    if (reader.takeWords('READ', 'ONLY')) mayWrite = false;
    else if (reader.takeWords('READ', 'WRITE')) mayWrite = true;
    else if (reader.takeWords('ISOLATION', 'LEVEL')) takeLevel(reader);
    else throw reader.expected('READ ONLY, READ WRITE or ISOLATION LEVEL');
  }
  return mayWrite;
}

function takeLevel(reader: StatementReader): void {
  if (reader.peekWord() === 'SERIALIZABLE') {
    throw reader.error('NOT_SUPPORTED', 'transactions are not SERIALIZABLE: REPEATABLE READ is the highest level');
  }
  if (!WEAKER.some((words) => reader.takeWords(...words))) throw reader.expected('an isolation level');
}
