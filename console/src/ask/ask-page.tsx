import type { EditorView } from '@codemirror/view';
import { lazy, Suspense, useEffect, useMemo, useRef, useState, type ReactNode } from 'react';
import { useStore } from '../app/store.ts';
import { CatalogPanel } from '../catalog/catalog-panel.tsx';
import { Editor } from '../editor/editor.tsx';
import { planOfExplain } from '../query/place-plan.ts';
import { ResultView } from '../result/result-view.tsx';
import type { Outcome, TabRun } from '../runs/outcome.ts';
import { parameterNames } from '../runs/parameters.ts';
import type { TabRecord } from '../tabs/tab-record.ts';
import { allStatements, chosenStatements, insertText, runStatements } from './ask-actions.ts';
import type { AskState } from './ask-state.ts';
import { AskTools } from './ask-tools.tsx';
import { OutcomeLine } from './outcome-line.tsx';
import { ParameterFields } from './parameter-fields.tsx';
import { TabBar } from './tab-bar.tsx';

const PlanGraph = lazy(() => import('../query/plan-graph.tsx').then((module) => ({ default: module.PlanGraph })));

/** Rows that a look at a table shows. */
const PREVIEW_ROWS = 100;

/** Ask: texts, their runs, their rows, beside the tree of what can be asked. */
export function AskPage({ ask }: { readonly ask: AskState }): ReactNode {
  const { isLoaded, tabs, activeId } = useStore(ask.tabs.state, (value) => value);
  const tab = tabs.find(({ id }) => id === activeId);
  const [isTreeShown, showTree] = useState(() => globalThis.innerWidth > 700);
  const view = useRef<EditorView>(null);
  const preview = (path: string): void => {
    if (tab !== undefined) {
      void runStatements(ask, tab, [{ sql: `SELECT * FROM ${path} LIMIT ${PREVIEW_ROWS}`, offset: null }], null);
    }
  };
  if (!isLoaded || tab === undefined) return <p role="status">Loading …</p>;
  return (
    <div className={`ask ${isTreeShown ? 'with-tree' : ''}`}>
      {isTreeShown ? (
        <CatalogPanel
          tree={ask.tree}
          onInsert={(text) => view.current !== null && insertText(view.current, text)}
          onPreview={preview}
        />
      ) : null}
      <div className="ask-main">
        <div className="bar tabs-bar">
          <button
            type="button"
            aria-label="Objects"
            title="Show or hide the tree"
            aria-pressed={isTreeShown}
            onClick={() => showTree(!isTreeShown)}
          >
            ☰
          </button>
          <TabBar ask={ask} />
        </div>
        <TabPanel ask={ask} tab={tab} view={view} />
      </div>
    </div>
  );
}

type PanelProps = { readonly ask: AskState; readonly tab: TabRecord; readonly view: { current: EditorView | null } };

function TabPanel({ ask, tab, view }: PanelProps): ReactNode {
  const run = useStore(ask.runs.state, (runs) => runs.get(tab.id));
  const [names, setNames] = useState<readonly string[]>([]);
  const [described, describe] = useState<string | null>(null);
  const [panel, setPanel] = useState<'none' | 'chart' | 'column'>('none');
  const latest = useRef(tab);
  latest.current = tab;
  const keys = useMemo(() => {
    const start = (of: typeof allStatements) => (editor: EditorView) => {
      void runStatements(ask, latest.current, of(editor), editor);
      return true;
    };
    return [
      { key: 'Mod-Enter', run: start(chosenStatements) },
      { key: 'Mod-Shift-Enter', run: start(allStatements) },
    ];
  }, [ask]);
  const onRest = (editor: EditorView): void => {
    const chosen = chosenStatements(editor);
    const found = chosen.flatMap(({ sql }) => parameterNames(sql));
    describe(chosen.length === 1 && found.length > 0 ? (chosen[0]?.sql ?? null) : null);
    setNames((before) => (before.join() === found.join() ? before : [...new Set(found)]));
  };
  const shown = run?.outcomes[run.shown];
  useEffect(() => {
    if (run === undefined) void ask.runs.resume(tab);
    // Only when the tab comes to sight.
  }, [ask, tab.id]);
  return (
    <div className="panel" id="tab-panel" role="tabpanel" aria-labelledby={`tab-${tab.id}`}>
      <Editor
        tabs={ask.tabs}
        tab={tab}
        keys={keys}
        onReady={(made) => {
          view.current = made;
        }}
        onRest={onRest}
      />
      {names.length > 0 ? (
        <ParameterFields
          names={names}
          sql={described}
          session={tab.session}
          values={tab.parameters}
          onChange={(parameters) => ask.tabs.change(tab.id, { parameters })}
        />
      ) : null}
      <AskTools
        ask={ask}
        tab={tab}
        view={view}
        shown={shown}
        isChart={panel === 'chart'}
        onChart={() => setPanel(panel === 'chart' ? 'none' : 'chart')}
      />
      <Shown ask={ask} tab={tab} run={run} shown={shown} panel={panel} onPanel={setPanel} />
    </div>
  );
}

type ShownProps = Omit<PanelProps, 'view'> & {
  readonly run: TabRun | undefined;
  readonly shown: Outcome | undefined;
  readonly panel: 'none' | 'chart' | 'column';
  readonly onPanel: (panel: 'none' | 'chart' | 'column') => void;
};

/** The rows of the run, or what to do for some. */
function Shown({ ask, tab, run, shown, panel, onPanel }: ShownProps): ReactNode {
  useEffect(() => {
    if (shown === undefined) document.title = 'Skein';
  }, [shown === undefined]);
  if (run === undefined || shown === undefined) {
    return (
      <p className="quiet empty">Ctrl+Enter runs the statement in which the cursor stands, or what is selected.</p>
    );
  }
  const plan = shown.isExplain && shown.state === 'done' ? planOfExplain(shown.result.text(0, 0) ?? '') : null;
  return (
    <div className="shown">
      <OutcomeLine
        run={run}
        shown={shown}
        onShow={(at) => ask.runs.show(tab.id, at)}
        onResume={() => void ask.runs.resume(tab)}
      />
      {plan === null ? null : (
        <Suspense fallback={<p role="status">Loading …</p>}>
          <p className="quiet">{plan.about}</p>
          <PlanGraph plan={plan.plan} />
        </Suspense>
      )}
      {plan === null && shown.result.columns.length > 0 && shown.error === null ? (
        <ResultView
          key={shown.queryId}
          outcome={shown}
          onSortAll={(order) => void ask.runs.sort(tab, shown, order)}
          panel={panel}
          onPanel={onPanel}
          chart={tab.chart}
          onChart={(chart) => ask.tabs.change(tab.id, { chart })}
        />
      ) : null}
    </div>
  );
}
