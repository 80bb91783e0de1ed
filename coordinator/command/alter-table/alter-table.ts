import { setImmediate } from 'node:timers/promises';
import { SkeinError } from '#shared/error.ts';
import { loadForWrite } from '../../catalog-client/write-catalog.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { statusResult } from '../../operation/answer.ts';
import { withNamePosition } from '../../operation/with-name-position.ts';
import { takeIfExists } from '../clause/exists.ts';
import type { Command } from '../command.ts';
import type { CommandContext } from '../../operation/command-context.ts';
import { qualify } from '../../operation/qualify.ts';
import { METRIC_COLUMNS, runProcedure, takeProcedure, type ProcedureClause } from '../maintenance/procedures.ts';
import { requireUnpoliced } from '../../operation/policed-table.ts';
import { changeTable } from '../../operation/change-table.ts';
import { applyEdit, takeEdit, type EditClause } from './edits.ts';
import { changePolicies, takePolicyEdit, type PolicyEdit } from '../policy/table-policies.ts';
import { renameTable } from './rename-table.ts';
import { takeSetNotNull, withNotNull } from './set-not-null.ts';
import { changeOf, draftOf } from './table-draft.ts';

type Action =
  | { readonly kind: 'edits'; readonly edits: readonly EditClause[] }
  | { readonly kind: 'set not null'; readonly column: ObjectName }
  | { readonly kind: 'execute'; readonly call: ProcedureClause }
  | { readonly kind: 'policy'; readonly edit: PolicyEdit }
  | { readonly kind: 'rename'; readonly newName: ObjectName };

type AlterTable = { readonly ifExists: boolean; readonly name: ObjectName; readonly action: Action };

/** `ALTER TABLE [IF EXISTS] name edit, ... | policy edit | ALTER [COLUMN] column SET NOT NULL | RENAME TO name | EXECUTE call` */
export const alterTable: Command<AlterTable> = {
  words: ['ALTER TABLE'],
  queryType: 'ddl',
  typeOf: ({ action }) => (action.kind === 'execute' ? 'maintenance' : 'ddl'),
  timeout: 'session',
  parse(reader) {
    reader.words(2);
    const ifExists = takeIfExists(reader);
    const name = reader.name('a table', 3);
    const column = takeSetNotNull(reader);
    if (column !== null) {
      reader.end();
      return { ifExists, name, action: { kind: 'set not null', column } };
    }
    const policy = takePolicyEdit(reader);
    if (policy !== null) {
      reader.end();
      return { ifExists, name, action: { kind: 'policy', edit: policy } };
    }
    if (reader.takeWord('EXECUTE')) {
      const call = takeProcedure(reader);
      reader.end();
      return { ifExists, name, action: { kind: 'execute', call } };
    }
    if (reader.takeWords('RENAME', 'TO')) {
      const newName = reader.name('a table', 3);
      reader.end();
      return { ifExists, name, action: { kind: 'rename', newName } };
    }
    const edits: EditClause[] = [];
    do {
      if (edits.length === EDITS_MAX) throw reader.error('SYNTAX_ERROR', `more than ${EDITS_MAX} changes at once`);
      edits.push(takeEdit(reader));
    } while (reader.takeSymbol(','));
    reader.end();
    return { ifExists, name, action: { kind: 'edits', edits } };
  },
  inTransaction: ({ action }) => action.kind === 'edits' || action.kind === 'set not null',
  action: ({ action }) => ACTIONS[action.kind],
  answers: ({ action }) =>
    action.kind === 'execute' ? { kind: 'rows', columns: METRIC_COLUMNS } : { kind: 'nothing' },
  async run({ ifExists, name, action }, context) {
    try {
      if (action.kind === 'execute') {
        const done = qualify(name, context).then((table) => runProcedure(action.call, table, context));
        const { answer, cost } = await withNamePosition(name, done);
        return { ...(await context.answer(answer)), ...cost };
      }
      await withNamePosition(name, alter(name, action, context));
    } catch (error) {
      if (!ifExists || SkeinError.of(error).code !== 'TABLE_NOT_FOUND') throw error;
    }
    const bound = action.kind === 'policy' && action.edit.kind === 'bind';
    return context.answer(statusResult(bound ? BOUND : 'ALTER TABLE', 'ALTER TABLE'));
  },
};

/** Nothing ends a key that is out. */
const BOUND =
  'ALTER TABLE: keys to the files of the table that clients have live on for an hour at most, and signed addresses for 15 minutes';

/** The catalog decides who may change policies, in the transaction of the change. */
const ACTIONS = {
  edits: 'table.commit',
  'set not null': 'table.commit',
  policy: null,
  execute: 'table.commit',
  rename: 'table.rename',
} as const satisfies Readonly<Record<Action['kind'], string | null>>;

/** Changes of one statement. */
const EDITS_MAX = 1_000;

async function alter(
  name: ObjectName,
  action: Exclude<Action, { kind: 'execute' }>,
  context: CommandContext,
): Promise<void> {
  const table = await qualify(name, context);
  if (action.kind === 'policy') return changePolicies(table, action.edit, context);
  if (action.kind === 'rename') return renameTable(table, action.newName, context);
  if (action.kind === 'edits') {
    return changeTable(context, table, async (base, loaded) => {
      const first = draftOf(base);
      let draft = first;
      for (const edit of action.edits) {
        draft = applyEdit(draft, edit);
        // Each edit looks through all fields of the table: others have their turn.
        await setImmediate();
      }
      const isBranchMoved = [...base.refs].some(
        ([ref, { type }]) => type === 'branch' && draft.refs.get(ref) !== base.refs.get(ref),
      );
      if (isBranchMoved) requireUnpoliced(loaded, 'this change of a branch', name.position);
      // Rows come in the order of the files, which would be that of values that are hidden.
      const isOrdered = draft.partitions !== first.partitions || draft.sortOrder !== first.sortOrder;
      if (isOrdered) requireUnpoliced(loaded, 'this change of where rows lie', name.position);
      return changeOf(draft);
    });
  }
  const loaded = await loadForWrite(context.tables, table, context.signal);
  requireUnpoliced(loaded, 'SET NOT NULL', name.position);
  const change = await withNotNull(loaded.metadata, { table, column: action.column }, context);
  return changeTable(context, table, () => change);
}
