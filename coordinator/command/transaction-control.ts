import { unreachable } from '#shared/must.ts';
import type { StatementReader } from '../statement/statement-reader.ts';
import { statusResult } from '../operation/answer.ts';
import { mayWriteByDefault } from '../session/session.ts';
import type { Command } from './command.ts';
import { takeModes } from './transaction-modes.ts';

type TransactionStatement =
  /** `mayWrite`: null = as `default_transaction_read_only` says. */
  | { readonly kind: 'BEGIN'; readonly mayWrite: boolean | null }
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
  async run(statement, { transactions, session, config, answer }) {
    switch (statement.kind) {
      case 'BEGIN':
        await transactions.begin({ mayWrite: statement.mayWrite ?? mayWriteByDefault(session, config) });
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
