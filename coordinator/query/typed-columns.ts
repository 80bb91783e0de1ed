import type { PreparedQuery } from '../binding/prepared-query.ts';
import type { SqlField, SqlType } from '../plan/sql-type.ts';

/** The columns of a query; one that is NULL in every row, which DuckDB gives the type INTEGER, has the type of NULL. */
export const typedColumns = ({ columns, plan }: PreparedQuery): readonly SqlField[] =>
  columns.map((column, i) => {
    const given = plan?.kind === 'project' ? plan.expressions[i]?.expression : undefined;
    const isNull = given?.kind === 'constant' && given.value === null;
    return isNull ? { ...column, type: NULL_TYPE } : column;
  });

const NULL_TYPE: SqlType = { kind: 'scalar', name: '"NULL"' };
