import { SkeinError } from '#shared/error.ts';
import { isUuid, queryId, type QueryId } from '#shared/id.ts';
import { statusResult } from '../operation/answer.ts';
import type { Command } from './command.ts';

type Kill = { readonly queryId: QueryId; readonly position: number };

/** `KILL QUERY 'id'`: cancels a statement that waits or runs: a principal its own, an administrator any of the tenant. */
export const killQuery: Command<Kill> = {
  words: ['KILL QUERY', 'KILL'],
  queryType: 'set',
  timeout: 'coordinator',
  parse(reader) {
    reader.word();
    if (!reader.takeWord('QUERY')) throw reader.expected('QUERY');
    const { position } = reader;
    const id = reader.takeString();
    if (id === null) throw reader.expected('the id of a query, in quotes');
    if (!isUuid(id)) throw new SkeinError('INVALID_REQUEST', 'the id of a query is a UUID', { position });
    reader.end();
    return { queryId: queryId(id), position };
  },
  action: () => 'query.stop',
  run({ queryId: id, position }, { records, answer }) {
    if (!records.cancel(id)) throw new SkeinError('QUERY_NOT_FOUND', `no query ${id} is running`, { position });
    return answer(statusResult('KILL QUERY'));
  },
};
