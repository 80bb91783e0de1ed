import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from './cluster.ts';

export const readSqlDocs = (): Promise<string> => readFile(join(projectRoot, 'docs/sql.md'), 'utf8');

/** The SQL statements of a section of `docs/sql.md`. @param title of a `##` section */
export async function docsStatements(title: string): Promise<readonly string[]> {
  const [, section = ''] = (await readSqlDocs()).split(`\n## ${title}\n`);
  return statementsIn(section.split('\n## ')[0] ?? '');
}

/** The SQL statements of all sections of `docs/sql.md`, each once. */
export async function allDocsStatements(): Promise<readonly string[]> {
  return [...new Set(statementsIn(await readSqlDocs()))];
}

/** The statements of the blocks of SQL in a text. */
const statementsIn = (text: string): readonly string[] =>
  [...text.matchAll(/^```sql\n([^]*?)^```$/gm)]
    .flatMap(([, block = '']) => block.split(/;[^\n;]*$/m))
    .filter((sql) => sql.trim() !== '');
