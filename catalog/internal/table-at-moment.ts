import type { LoadedTableInput } from '#proto/generated/skein/catalog/v1/LoadedTable.ts';
import { readRegistered } from '../commit/register-metadata.ts';
import type { CatalogContext } from '../context.ts';
import { currentMoment, versionsAt } from '../store/postgres/table-version-store.ts';

/** Says which moment it is: a transaction names it when it loads tables. */
export const getMoment = async ({ store }: CatalogContext): Promise<{ moment: string }> => ({
  moment: await currentMoment(store.pool),
});

/**
 * Returns tables as they were at a moment, given how they are now. A table that was not there is not found; views stay as they are.
 * @throws TABLE_METADATA_MISSING when the file of an earlier document is gone
 */
export async function tablesAtMoment(
  context: CatalogContext,
  tables: readonly LoadedTableInput[],
  { moment, tenant }: { readonly moment: string; readonly tenant: string },
): Promise<LoadedTableInput[]> {
  const found = tables.filter(({ status }) => status === 'FOUND');
  if (found.length === 0) return [...tables];
  const ids = found.map(({ version = '' }) => tableIdOf(version));
  const versions = await versionsAt(context.store.pool, ids, moment);
  const then: LoadedTableInput[] = [];
  for (const table of tables) {
    const at = table.status === 'FOUND' ? versions[found.indexOf(table)] : undefined;
    if (at === undefined) then.push(table);
    else if (at === null) then.push({ status: 'TABLE_NOT_FOUND' });
    else {
      const version = printVersion(tableIdOf(table.version ?? ''), at.version);
      if (version === table.version) then.push(table);
      else then.push({ ...table, version, ...(await readThen(context, table, at.metadataLocation, tenant)) });
    }
  }
  return then;
}

async function readThen(
  context: CatalogContext,
  { allowed_roots: roots = [] }: LoadedTableInput,
  file: string,
  owner: string,
): Promise<Pick<LoadedTableInput, 'metadata_location' | 'metadata_json'>> {
  const { text } = await readRegistered(context, file, { roots, owner });
  return { metadata_location: file, metadata_json: text };
}

/** The parts of a `LoadedTable.version`. */
export function readVersion(version: string): { readonly tableId: string; readonly version: number } {
  const tableId = tableIdOf(version);
  return { tableId, version: Number(version.slice(tableId.length + 1)) };
}

const tableIdOf = (version: string): string => version.slice(0, version.lastIndexOf('.'));
const printVersion = (id: string, version: number): string => `${id}.${version}`;
