import { SkeinError, type ErrorCode } from '#shared/error.ts';
import type { LoadedTable } from '../../binding/table-source.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { printTableName } from './table-place.ts';

type Taken = Exclude<LoadedTable, { kind: 'missing' }>;

/** The error of a statement that makes a table or view under a name that one has already, with its place. */
export const nameTaken = (loaded: Taken, { position }: ObjectName): SkeinError =>
  new SkeinError('TABLE_EXISTS', `${kindOf(loaded)} ${printTableName(loaded.name)} exists already`, { position });

/** The error of OR REPLACE for an object of another kind. */
export const otherKind = (loaded: Taken, wanted: string, { position }: ObjectName): SkeinError =>
  new SkeinError('WRONG_OBJECT_TYPE', `${printTableName(loaded.name)} is a ${kindOf(loaded)}, not a ${wanted}`, {
    position,
  });

function kindOf(loaded: Taken): string {
  if (loaded.kind === 'found') return 'table';
  return loaded.view.storageTable === null ? 'view' : 'materialized view';
}

/** The errors of the catalog for a name that was free a moment ago: of tables, and of views and tables beside each other. */
const TAKEN: ReadonlySet<ErrorCode> = new Set(['TABLE_EXISTS', 'ALREADY_EXISTS']);
export const isTaken = (error: unknown): boolean => TAKEN.has(SkeinError.of(error).code);

/** Says of the work that gives an object its name that the name was taken meanwhile. @throws TABLE_EXISTS with the name's place */
export async function underName<T>({ parts, position }: ObjectName, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    if (!isTaken(error)) throw error;
    throw new SkeinError('TABLE_EXISTS', `${parts.join('.')} exists already`, { position, cause: error });
  }
}
