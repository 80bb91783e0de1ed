import { unreachable } from '#shared/must.ts';
import type { Queries } from '../operation/queries.ts';
import type {
  Delete,
  Insert,
  MatchingRows,
  Merge,
  MergeAction,
  MergeSource,
  RowWrite,
  SetColumn,
  Update,
} from '../operation/row-write.ts';
import type { AsProven, TakePart } from '../statement/proven.ts';

type Prover = Pick<Queries, 'prove'>;

/** The statement with its parts proven, before any of them is put into another text. @throws SYNTAX_ERROR */
export async function proveWrite(write: RowWrite, queries: Prover): Promise<RowWrite<AsProven>> {
  switch (write.kind) {
    case 'insert':
      return { kind: 'insert', input: await proveInsert(write.input, queries) };
    case 'delete':
      return { kind: 'delete', input: await proveDelete(write.input, queries) };
    case 'update':
      return { kind: 'update', input: await proveUpdate(write.input, queries) };
    case 'merge':
      return { kind: 'merge', input: await proveMerge(write.input, queries) };
    default:
      return unreachable(write);
  }
}

/** Its query stays as it is: it is parsed as a whole. */
export const proveInsert = (insert: Insert, queries: Prover): Promise<Insert<AsProven>> =>
  queries.prove((take) => ({
    ...insert,
    values: insert.values?.map((row) => row.map((value) => take('expression', value))) ?? null,
    returning: take('list', insert.returning),
  }));

export const proveDelete = (input: Delete, queries: Prover): Promise<Delete<AsProven>> =>
  queries.prove((take) => provenRows(input, take));

export const proveUpdate = (input: Update, queries: Prover): Promise<Update<AsProven>> =>
  queries.prove((take) => ({ ...provenRows(input, take), set: provenSet(input.set, take) }));

export const proveMerge = (merge: Merge, queries: Prover): Promise<Merge<AsProven>> =>
  queries.prove((take) => ({
    ...merge,
    source: provenSource(merge.source, take),
    on: take('expression', merge.on),
    branches: merge.branches.map((branch) => ({
      ...branch,
      condition: take('expression', branch.condition),
      action: provenAction(branch.action, take),
    })),
    returning: take('list', merge.returning),
  }));

const provenRows = <Rows extends MatchingRows>(rows: Rows, take: TakePart) => ({
  ...rows,
  from: take('tables', rows.from),
  where: take('expression', rows.where),
  returning: take('list', rows.returning),
});

const provenSet = (set: readonly SetColumn[], take: TakePart): readonly SetColumn<AsProven>[] =>
  set.map((column) => ({ ...column, value: take('expression', column.value) }));

function provenSource(source: MergeSource, take: TakePart): MergeSource<AsProven> {
  return source.kind === 'query'
    ? { ...source, query: take('query', source.query) }
    : { ...source, table: take('tables', source.table) };
}

function provenAction(action: MergeAction, take: TakePart): MergeAction<AsProven> {
  switch (action.kind) {
    case 'nothing':
    case 'delete':
      return action;
    case 'update':
      return { ...action, set: action.set === null ? null : provenSet(action.set, take) };
    case 'insert':
      return { ...action, values: action.values?.map((value) => take('expression', value)) ?? null };
    default:
      return unreachable(action);
  }
}
