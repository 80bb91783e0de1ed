import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { projectRoot } from './cluster.ts';

export const readSqlDocs = (): Promise<string> => readFile(join(projectRoot, 'docs/sql.md'), 'utf8');

/** The SQL statements of a section of `docs/sql.md`. @param title of a `##` section */
export async function docsStatements(title: string): Promise<readonly string[]> {
  const [, section = ''] = (await readSqlDocs()).split(`\n## ${title}\n`);
  const blocks = section.split('\n## ')[0]?.matchAll(/^```sql\n([^]*?)^```$/gm) ?? [];
  return [...blocks].flatMap(([, block = '']) => block.split(/;[^\n;]*$/m)).filter((sql) => sql.trim() !== '');
}
