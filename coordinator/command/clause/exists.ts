import type { StatementReader } from '../../statement/statement-reader.ts';

export const takeIfExists = (reader: StatementReader): boolean => reader.takeWords('IF', 'EXISTS');
export const takeIfNotExists = (reader: StatementReader): boolean => reader.takeWords('IF', 'NOT', 'EXISTS');
