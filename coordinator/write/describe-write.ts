import { unreachable } from '#shared/must.ts';
import type { Description } from '../operation/description.ts';
import type { RowWrite } from '../operation/row-write.ts';
import { COUNT_COLUMNS } from '../sink/made-rows.ts';
import type { AsProven } from '../statement/proven.ts';
import { describeDelete } from './delete-rows.ts';
import { describeInsert } from './insert-rows.ts';
import { describeMerge } from './merge-rows.ts';
import { proveWrite } from './prove-write.ts';
import type { RowServices } from './replace-rows.ts';
import { describeReturning } from './returned-rows.ts';
import { describeUpdate } from './update-rows.ts';

/** The columns that a statement answers, and its parameters. */
export async function describeWrite(written: RowWrite, services: RowServices): Promise<Description> {
  const write = await proveWrite(written, services.queries);
  const parameters = await parametersOf(write, services);
  const { input } = write;
  if (input.returning === null) return { kind: 'count', columns: COUNT_COLUMNS, parameters };
  const returned = await describeReturning(input, await services.target(input.table), services.queries);
  return {
    columns: returned?.columns ?? null,
    parameters: new Map([...(returned?.parameters ?? []), ...parameters]),
  };
}

function parametersOf({ kind, input }: RowWrite<AsProven>, services: RowServices): Promise<Description['parameters']> {
  switch (kind) {
    case 'insert':
      return describeInsert(input, services);
    case 'delete':
      return describeDelete(input, services);
    case 'update':
      return describeUpdate(input, services);
    case 'merge':
      return describeMerge(input, services);
    default:
      return unreachable(kind);
  }
}
