import type { EditorView } from '@codemirror/view';
import { placeStatements, statementAt } from '#shared/sql/split-statements.ts';
import { clearErrors, markError } from '../editor/editor.tsx';
import { errorPlace } from '../editor/error-place.ts';
import type { Asked } from '../runs/runs.ts';
import type { TabRecord } from '../tabs/tab-record.ts';
import type { AskState } from './ask-state.ts';

/** A statement of the text. */
type AskedAt = Asked & { readonly offset: number };

/** The statements of the selection, else that in which the cursor stands. */
export function chosenStatements({ state }: EditorView): readonly AskedAt[] {
  const { from, to, empty, head } = state.selection.main;
  const text = state.doc.toString();
  if (!empty) {
    return placeStatements(text.slice(from, to)).map(({ sql, start }) => ({ sql, offset: from + start }));
  }
  const statement = statementAt(text, head);
  return statement === undefined ? [] : [{ sql: statement.sql, offset: statement.start }];
}

export const allStatements = ({ state }: EditorView): readonly AskedAt[] =>
  placeStatements(state.doc.toString()).map(({ sql, start }) => ({ sql, offset: start }));

/** Runs statements of a tab, and shows an error at its place in the text. */
export async function runStatements(
  ask: AskState,
  tab: TabRecord,
  statements: readonly Asked[],
  view: EditorView | null,
): Promise<void> {
  if (ask.runs.isRunning(tab.id)) {
    ask.tell(tab, 'A statement of this tab runs: wait for it, or cancel it');
    return;
  }
  if (view !== null) clearErrors(view);
  ask.tell(tab, statements.length === 0 ? 'There is no statement at the cursor' : '');
  await ask.runs.run(tab, statements);
  const failed = ask.runs.state.value.get(tab.id)?.outcomes.at(-1);
  if (view === null || failed?.error === undefined || failed.error === null || failed.offset === null) return;
  if (ask.tabs.state.value.activeId !== tab.id) return;
  const place = errorPlace(failed.error, failed.sql);
  // An error may lie in the words before an explained statement, which are not in the text.
  if (place !== null && failed.offset + place >= 0) markError(view, failed.offset + place, failed.error.message);
}

/** Sets the whole text in order; a text that does not parse stays. @returns what was wrong */
export async function formatText(view: EditorView): Promise<string | null> {
  const { format } = await import('sql-formatter');
  const text = view.state.doc.toString();
  try {
    const formatted = format(text, {
      language: 'duckdb',
      keywordCase: 'upper',
      paramTypes: { numbered: ['$', '?'], named: ['$'] },
    });
    view.dispatch({ changes: { from: 0, to: text.length, insert: formatted } });
    return null;
  } catch {
    return 'The formatter does not understand this text: it stays as it is';
  }
}

export function insertText(view: EditorView, text: string): void {
  view.dispatch(view.state.replaceSelection(text));
  view.focus();
}
