import { randomUUID } from 'node:crypto';
import { SkeinError } from '#shared/error.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';
import type { Queries } from '../operation/queries.ts';
import { BoundedValues } from '../operation/bounded-values.ts';
import { NO_POLICIES } from '../binding/table-policies.ts';
import { encodeRows } from '../binding/encode-rows.ts';
import { textColumns } from '../binding/made-columns.ts';
import { wholeText } from '../statement/derived-text.ts';
import type { StageFile } from '../stage/stage-files.ts';
import type { Pattern } from '../operation/copy-into.ts';
import type { KeptRows } from '../binding/kept-rows.ts';

/**
 * The files whose path in the stage matches a regular expression as a whole. A worker matches them, in linear time (RE2).
 * @throws INVALID_ARGUMENT for what is no expression, with its position
 */
export async function matchPattern(
  files: readonly StageFile[],
  pattern: Pattern,
  queries: Pick<Queries, 'texts'>,
  kept: KeptRows,
): Promise<readonly StageFile[]> {
  const name = `@paths/${randomUUID()}`;
  const rows = await encodeRows({ title: name, columns: textColumns(['path', 'place']) }, pagesOf(files), kept.take);
  kept.keep(name, { kind: 'rows', rows, policies: NO_POLICIES });
  const text = `SELECT "place" FROM ${name} WHERE regexp_full_match("path", ${quoteLiteral(pattern.text)})`;
  const query = { text, offset: 0 };
  const places = new BoundedValues();
  try {
    await queries.texts(query, wholeText(query), places);
  } catch (thrown) {
    const error = SkeinError.of(thrown);
    if (error.code !== 'INVALID_ARGUMENT') throw error;
    throw new SkeinError(error.code, `PATTERN is no regular expression: ${error.message}`, {
      position: pattern.position,
      cause: error,
    });
  }
  const matching = new Set(places.values.map(Number));
  return files.filter((_, i) => matching.has(i));
}

/** Files whose paths are encoded in one turn. */
const PAGE_FILES = 1_000;

async function* pagesOf(files: readonly StageFile[]): AsyncGenerator<readonly (readonly string[])[]> {
  for (let start = 0; start < files.length; start += PAGE_FILES) {
    yield files.slice(start, start + PAGE_FILES).map(({ path }, i) => [path, String(start + i)]);
  }
}
