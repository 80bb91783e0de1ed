import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** A statement that a tool sends by itself. */
export type ToolStatement = {
  /** From 1, as the file counts them. */
  readonly number: number;
  readonly client: string;
  readonly sql: string;
  readonly protocol: 'simple' | 'extended';
  /** Texts of the parameters `$1`, `$2`, ...; of the extended protocol alone. */
  readonly values: readonly string[];
};

const FILE = join(import.meta.dirname, '../postgres/tool-statements.sql');

/** The statements of `test/postgres/tool-statements.sql`, in their order. */
export function toolStatements(): readonly ToolStatement[] {
  const found: ToolStatement[] = [];
  for (const section of readFileSync(FILE, 'utf8')
    .split(/^-- CLIENT /m)
    .slice(1)) {
    const client = section.slice(0, section.indexOf(' ->'));
    for (const [, number = '', kind = '', head = '', body = ''] of section.matchAll(
      /^-- \[(\d+)\] (simple|extended)(.*)\n([^]*?)(?=^-- \[|^-- ====|(?![^]))/gm,
    )) {
      found.push({
        number: Number(number),
        client,
        sql: body.replaceAll(/^--.*$/gm, '').trim(),
        protocol: kind as ToolStatement['protocol'],
        values: [...head.matchAll(/\$\d+ = '((?:[^']|'')*)'/g)].map(([, value = '']) => value),
      });
    }
  }
  return found;
}
