import { Menu } from '@base-ui/react/menu';
import type { EditorView } from '@codemirror/view';
import type { ReactNode } from 'react';
import { useStore } from '../app/store.ts';
import { exportAll, saveQuery } from '../result/export-all.ts';
import { exportRows, type ExportForm } from '../result/export-rows.ts';
import type { Outcome } from '../runs/outcome.ts';
import { explained } from '../runs/explain-statement.ts';
import { ROW_LIMITS, type TabRecord } from '../tabs/tab-record.ts';
import { allStatements, chosenStatements, formatText, runStatements } from './ask-actions.ts';
import type { AskState } from './ask-state.ts';
import { SessionBar } from './session-bar.tsx';

type Props = {
  readonly ask: AskState;
  readonly tab: TabRecord;
  readonly view: { readonly current: EditorView | null };
  readonly shown: Outcome | undefined;
  readonly isChart: boolean;
  readonly onChart: () => void;
};

const TIMEOUTS_S = [0, 10, 60, 600, 3_600] as const;
const FORMS: readonly ExportForm[] = ['CSV', 'JSON', 'Arrow'];

/** The buttons between the text and its rows. */
export function AskTools({ ask, tab, view, shown, isChart, onChart }: Props): ReactNode {
  const isRunning = useStore(ask.runs.state, () => ask.runs.isRunning(tab.id));
  const told = useStore(ask.told, ({ tabId, text }) => (tabId === tab.id ? text : ''));
  const tell = (text: string): void => ask.tell(tab, text);
  const run = (of: typeof allStatements): void => {
    if (view.current !== null) void runStatements(ask, tab, of(view.current), view.current);
  };
  const explain = (): void => {
    if (view.current === null) return;
    const [first] = chosenStatements(view.current);
    void runStatements(ask, tab, first === undefined ? [] : [explained(first)], view.current);
  };
  const act = (work: Promise<unknown>, done: string): void =>
    void work.then(
      (problem) => tell(typeof problem === 'string' ? problem : done),
      (error: unknown) => tell(error instanceof Error ? error.message : String(error)),
    );
  const hasRows = shown?.state === 'done' && shown.result.columns.length > 0;
  return (
    <div className="bar tools" role="toolbar" aria-label="Statement">
      <button
        type="button"
        className="primary"
        disabled={isRunning}
        onClick={() => run(chosenStatements)}
        title="Ctrl+Enter"
      >
        Run
      </button>
      <button type="button" disabled={isRunning} onClick={() => run(allStatements)} title="Ctrl+Shift+Enter">
        Run all
      </button>
      <button type="button" disabled={!isRunning} onClick={() => ask.runs.cancel(tab.id)}>
        Cancel
      </button>
      <button type="button" disabled={isRunning} onClick={explain}>
        Explain
      </button>
      <button type="button" onClick={() => view.current !== null && act(formatText(view.current), '')}>
        Format
      </button>
      <button type="button" onClick={onChart} aria-pressed={isChart} disabled={!hasRows}>
        Chart
      </button>
      <ExportMenu shown={hasRows ? shown : undefined} session={tab.session} onWork={act} />
      <button
        type="button"
        onClick={() =>
          act(saveQuery(tab.title.replaceAll(/[^\w .-]/g, '_'), ask.tabs.textOf(tab).text), `Saved to @~/queries/`)
        }
      >
        Save
      </button>
      <Limits ask={ask} tab={tab} />
      <SessionBar ask={ask} tab={tab} isRunning={isRunning} />
      <span role="status" className="quiet">
        {told}
      </span>
    </div>
  );
}

/** How many rows come, and how long a statement may take. */
function Limits({ ask, tab }: Pick<Props, 'ask' | 'tab'>): ReactNode {
  return (
    <>
      <label className="row">
        Rows
        <select
          value={tab.rowLimit}
          onChange={({ target }) => ask.tabs.change(tab.id, { rowLimit: Number(target.value) })}
        >
          {ROW_LIMITS.map((limit) => (
            <option key={limit} value={limit}>
              {limit.toLocaleString('en')}
            </option>
          ))}
        </select>
      </label>
      <label className="row">
        Timeout
        <select
          value={tab.timeoutS}
          onChange={({ target }) => ask.tabs.change(tab.id, { timeoutS: Number(target.value) })}
        >
          {TIMEOUTS_S.map((seconds) => (
            <option key={seconds} value={seconds}>
              {seconds === 0 ? 'session' : `${seconds} s`}
            </option>
          ))}
        </select>
      </label>
    </>
  );
}

type ExportProps = {
  readonly shown: Outcome | undefined;
  readonly session: string;
  readonly onWork: (work: Promise<unknown>, done: string) => void;
};

/** The rows shown, or all rows: two names, so that nobody takes the one for the other. */
function ExportMenu({ shown, session, onWork }: ExportProps): ReactNode {
  return (
    <Menu.Root>
      <Menu.Trigger disabled={shown === undefined}>Export</Menu.Trigger>
      <Menu.Portal>
        <Menu.Positioner className="positioner">
          <Menu.Popup className="menu">
            {FORMS.map((form) => (
              <Menu.Item
                key={form}
                onClick={() =>
                  shown !== undefined &&
                  onWork(
                    Promise.resolve().then(() => exportRows(shown.result, form)),
                    '',
                  )
                }
              >
                {shown?.rowCount.toLocaleString('en')} rows shown as {form}
              </Menu.Item>
            ))}
            <Menu.Item
              onClick={() =>
                shown !== undefined && onWork(exportAll(shown.sql, session), 'All rows are in @~/exports/')
              }
            >
              All rows as a file (runs the statement again)
            </Menu.Item>
          </Menu.Popup>
        </Menu.Positioner>
      </Menu.Portal>
    </Menu.Root>
  );
}
