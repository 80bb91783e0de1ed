import { columnOrigins, type ColumnOrigin } from '../plan/column-origin.ts';
import type { Plan } from '../plan/plan.ts';
import { printSqlType, type SqlField } from '../plan/sql-type.ts';
import type { BoundTable } from '../resolver/bind-tables.ts';
import type { NamedQuery } from './parse-query.ts';
import type { PlannedQuery } from './planned-query.ts';

type Columns = PlannedQuery['columns'];
type Planned = { readonly columns: readonly SqlField[]; readonly plan: Plan | null };

/** The columns of a result: with their types in Postgres, where the query says them, and with the moments that are Skein's own. */
export function resultColumns({ columns, plan }: Planned, query: NamedQuery, bound: readonly BoundTable[]): Columns {
  const typed = describedColumns(columns, query);
  return plan === null ? typed : withMoments(typed, plan, bound);
}

/** The columns with their types in Postgres, where the query says them. */
export function describedColumns(columns: readonly SqlField[], { types }: Pick<NamedQuery, 'types'>): Columns {
  const known = types?.length === columns.length ? types : null;
  return columns.map(({ name, type }, i) => {
    const postgres = known?.[i];
    return { name, type, typeName: printSqlType(type), ...(postgres === undefined ? {} : { postgres }) };
  });
}

/** Marks the columns that are moments of a statement in FROM: `SELECT queued_at FROM (SHOW QUERIES)`. */
function withMoments(columns: Columns, plan: Plan, bound: readonly BoundTable[]): Columns {
  const isMoment = ({ scan, column }: ColumnOrigin): boolean => {
    const table = bound[scan];
    return table?.kind === 'rows' && table.rows.columns[column]?.isMoment === true;
  };
  const tellsMoments = bound.some((table) => table.kind === 'rows' && table.rows.columns.some((one) => one.isMoment));
  if (!tellsMoments) return columns;
  return columns.map((column, i) => {
    const origins = columnOrigins(plan, i);
    return origins.length > 0 && origins.every(isMoment) ? { ...column, isMoment: true } : column;
  });
}
