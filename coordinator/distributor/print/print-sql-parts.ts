import type { SqlText } from '#shared/task/sql-text.ts';

type Part = string | SqlText[number] | SqlText;

/** SQL of pieces, with neighbouring strings made one: sql`SELECT * FROM ${from}`. */
export function sql(strings: TemplateStringsArray, ...parts: readonly Part[]): SqlText {
  return concat(strings.flatMap((text, i): readonly Part[] => (i < parts.length ? [text, parts[i] ?? ''] : [text])));
}

export const joinSql = (texts: readonly SqlText[], separator: string): SqlText =>
  concat(texts.flatMap((text, i): readonly Part[] => (i === 0 ? [text] : [separator, text])));

function concat(parts: readonly Part[]): SqlText {
  const joined: SqlText[number][] = [];
  for (const part of parts) {
    for (const one of isText(part) ? part : [part]) {
      const last = joined.at(-1);
      if (one === '') continue;
      if (typeof one === 'string' && typeof last === 'string') joined[joined.length - 1] = last + one;
      else joined.push(one);
    }
  }
  return joined;
}

const isText = (part: Part): part is SqlText => Array.isArray(part);
