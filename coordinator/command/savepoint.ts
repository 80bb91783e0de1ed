import { statusResult } from '../operation/answer.ts';
import type { Command } from './command.ts';

type Savepoint = { readonly kind: 'SAVEPOINT' | 'RELEASE'; readonly name: string };

/** `SAVEPOINT name`, `RELEASE [SAVEPOINT] name`; `ROLLBACK TO` stands with `ROLLBACK`, because a transaction that has failed takes it */
export const savepoint: Command<Savepoint> = {
  words: ['SAVEPOINT', 'RELEASE'],
  queryType: 'transaction',
  timeout: 'coordinator',
  parse(reader) {
    const kind = reader.word() === 'RELEASE' ? 'RELEASE' : 'SAVEPOINT';
    if (kind === 'RELEASE' && !reader.atEnd(1)) reader.takeWord('SAVEPOINT');
    const { parts } = reader.name('a savepoint', 1);
    reader.end();
    return { kind, name: parts.join('') };
  },
  action: () => null,
  run({ kind, name }, { transactions, answer }) {
    if (kind === 'SAVEPOINT') transactions.savepoint(name);
    else transactions.release(name);
    return answer(statusResult(kind));
  },
};
