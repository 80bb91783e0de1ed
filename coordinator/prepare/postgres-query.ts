import { Buffer } from 'node:buffer';
import { SkeinError } from '#shared/error.ts';
import type { PostgresText } from '../binding/planner.ts';
import { postgresType, type PostgresType } from '../binding/pg-types.ts';
import { ByteOffsets } from '../resolver/byte-offsets.ts';
import { EditedText } from '../statement/edited-text.ts';
import type { ValuePlace } from '../statement/value-place.ts';
import type { PrepareRequest } from './prepare-request.ts';

/** Longest text, in characters, that is written anew: a list of 50,000 names, for which Postgres' parser takes a second. */
const TEXT_MAX = 512 * 1024;

/**
 * Words without which a text has nothing of Postgres' catalog or its dialect; `pg_typeof` and `pg_size_pretty` are ours. Programs read the
 * result of `version()` by Postgres' name of its column.
 */
const WORDS =
  /\bpg_(?!typeof\b|size_pretty\b)\w|\breg(?:class|type|proc|procedure|namespace|role|oper|operator|collation)\b|\b_pg_expandarray\b|\b(?:format_type|to_reg[a-z]+|(?:obj|col|shobj)_description|has_[a-z_]+_privilege|generate_subscripts|aclexplode|row_security_active|array_(?:upper|lower)|quote_ident|quote_literal)\b|\bversion\s*\(\s*\)|\bfrom\s+current_(?:schema|database|catalog)\s*\(|\boperator\s*\(|\b(?:any|all)\s*\(\s*'|::\s*(?:name|oid)\b/i;

/** A relation of Postgres' catalog that is read. */
const READS_CATALOG = /\b(?:from|join)\s+(?:pg_catalog\s*\.\s*)?pg_\w/i;

/** Whether a query may be one of Postgres' dialect. @throws STATEMENT_TOO_COMPLEX for one that is, and is too long to be read as such */
export function isPostgresQuery(sql: string): boolean {
  if (sql.length <= TEXT_MAX) return WORDS.test(sql);
  if (!READS_CATALOG.test(sql)) return false;
  throw new SkeinError('STATEMENT_TOO_COMPLEX', `a query of Postgres' catalog has at most ${TEXT_MAX} characters`);
}

export type PostgresQuery = {
  readonly text: EditedText;
  /** The types of its columns in Postgres; undefined = DuckDB's. */
  readonly columns: readonly (PostgresType | undefined)[] | null;
};

/** The query in our dialect; null = it stays as it is. Positions of errors are byte offsets in `sql`. @throws as `Planner.postgres` */
export async function postgresQuery(
  sql: string,
  values: readonly ValuePlace[],
  { planner, context, asker, signal }: Pick<PrepareRequest, 'planner' | 'context' | 'asker' | 'signal'>,
): Promise<PostgresQuery | null> {
  const bytesTo = (character: number): number => Buffer.byteLength(sql.slice(0, character));
  const ranges = values.map(({ start, end }) => ({ from: bytesTo(start), to: bytesTo(end) }));
  const asked = { sql: withoutLists(sql, values), values: ranges, catalog: context.currentCatalog };
  const written = await planner.postgres(asked, asker, signal);
  if (written === null) return null;
  return { text: editedText(sql, written), columns: written.columns?.map(({ type }) => postgresType(type)) ?? null };
}

/** The text with as many bytes in the place of values that Postgres' parser does not read: lists. They stay ranges of the text itself. */
function withoutLists(sql: string, values: readonly ValuePlace[]): string {
  return values.toReversed().reduce((text, { start, end, text: value }) => {
    const bytes = Buffer.byteLength(value);
    return value.includes('[') && bytes >= NULL.length
      ? text.slice(0, start) + NULL.padEnd(bytes) + text.slice(end)
      : text;
  }, sql);
}

const NULL = 'NULL';

function editedText(sql: string, { parts }: PostgresText): EditedText {
  const offsets = new ByteOffsets(sql);
  const text = new EditedText(sql);
  for (const part of parts) {
    if ('from' in part) {
      text.slice(offsets.toCharacter(part.from), offsets.toCharacter(part.to), NOTHING);
      continue;
    }
    if (part.at !== null) {
      // An empty range: what follows is told to stand there.
      const place = offsets.toCharacter(part.at);
      text.slice(place, place, NOTHING);
    }
    if (part.text !== '') text.insert(part.text);
  }
  return text;
}

const NOTHING: ReadonlyMap<number, string> = new Map();
