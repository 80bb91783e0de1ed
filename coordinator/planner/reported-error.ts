import { cutText } from '#shared/cut-text.ts';
import { DUCKDB_TEXT_BYTES_MAX } from '#shared/duckdb-error.ts';
import { SkeinError } from '#shared/error.ts';
import type { JsonObject } from '#shared/json.ts';
import { textOf } from '../plan/json-node.ts';
import { planningError } from './planning-error.ts';

/** The error that `json_serialize_sql` reports of a text, as one of the catalogue. Its position is a byte offset. */
export function reportedError(report: JsonObject, sql: string): SkeinError {
  const message = cutText(textOf(report['error_message']), DUCKDB_TEXT_BYTES_MAX);
  const type = textOf(report['error_type']);
  const place = report['position'] === undefined ? undefined : Number(report['position']);
  // The grammar counts characters, and everything behind it bytes.
  const isCounted = place !== undefined && textOf(report['error_subtype']) === 'SYNTAX_ERROR';
  const position = isCounted ? Buffer.byteLength(Array.from(sql).slice(0, place).join('')) : place;
  if (/expression depth/i.test(message)) {
    return new SkeinError('STATEMENT_TOO_COMPLEX', 'the statement is nested too deeply', { position });
  }
  if (type === 'not implemented' && message.startsWith('Only SELECT')) {
    return new SkeinError(
      'NOT_SUPPORTED',
      'only queries are served here; a PIVOT of a long query, or with a query after IN, lists its values: ON x IN (...)',
    );
  }
  if (message.startsWith('NameListToString')) {
    return new SkeinError('SYNTAX_ERROR', 'a table name has at most three parts; quote a nested schema: lake."a.b".t');
  }
  if (type === 'parser' && position === undefined) return new SkeinError('SYNTAX_ERROR', message);
  return planningError(message, type, position);
}
