import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { statusResult } from '../operation/answer.ts';
import type { Command } from './command.ts';

/** `name` null for ALL. */
type Deallocate = { readonly name: string | null; readonly position: number };

/** `DEALLOCATE [PREPARE] name | ALL` */
export const deallocate: Command<Deallocate> = {
  words: ['DEALLOCATE'],
  queryType: 'set',
  timeout: 'coordinator',
  parse(reader) {
    reader.word();
    if (reader.peekWord() === 'PREPARE' && !reader.atEnd(1)) reader.word();
    const isAll = reader.peekWord() === 'ALL';
    const { parts, position } = reader.name('a prepared statement', 1);
    reader.end();
    return { name: isAll ? null : foldIdentifier(parts.join('')), position };
  },
  action: () => null,
  run({ name, position }, { prepared, answer }) {
    prepared.deallocate(name, position);
    return answer(statusResult(name === null ? 'DEALLOCATE ALL' : 'DEALLOCATE'));
  },
};
