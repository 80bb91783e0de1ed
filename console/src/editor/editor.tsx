import { setDiagnostics } from '@codemirror/lint';
import { EditorState } from '@codemirror/state';
import { EditorView, type KeyBinding } from '@codemirror/view';
import { useEffect, useRef, type ReactNode } from 'react';
import type { OpenTabs } from '../tabs/open-tabs.ts';
import type { TabRecord } from '../tabs/tab-record.ts';
import { editorExtensions, styleNonce } from './editor-extensions.ts';

type Props = {
  readonly tabs: OpenTabs;
  readonly tab: TabRecord;
  readonly keys: readonly KeyBinding[];
  readonly onReady: (view: EditorView | null) => void;
  /** The text or the cursor is another; called at most once in a while. */
  readonly onRest: (view: EditorView) => void;
};

/** How long nothing is typed until the page looks at the text. */
const REST_MS = 250;

/** The text of the active tab. React draws it once: keys are CodeMirror's alone, however much is shown below. */
export function Editor({ tabs, tab, keys, onReady, onRest }: Props): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView>(null);
  const states = useRef(new Map<string, EditorState>());
  const latest = useRef({ tab, onRest });
  latest.current = { tab, onRest };
  useEffect(() => {
    if (place.current === null) return;
    const made = new EditorView({
      parent: place.current,
      state: EditorState.create({ extensions: [styleNonce] }),
    });
    view.current = made;
    onReady(made);
    return () => {
      onReady(null);
      view.current = null;
      made.destroy();
    };
    // It is made once: tabs change its state.
  }, []);
  useEffect(() => {
    const current = view.current;
    if (current === null) return;
    let timer: ReturnType<typeof setTimeout> | undefined;
    const onChange = (changed: EditorView): void => {
      tabs.typed(tab.id, changed.state.doc.toString(), changed.state.selection.main.head);
      clearTimeout(timer);
      timer = setTimeout(() => latest.current.onRest(changed), REST_MS);
    };
    const { text, cursor } = tabs.textOf(tab);
    const known = states.current.get(tab.id);
    const extensions = editorExtensions({ session: () => latest.current.tab.session, keys, onChange });
    // A tab that was closed and comes back may have another text.
    const isKnown = known !== undefined && known.doc.toString() === text;
    current.setState(
      isKnown
        ? known
        : EditorState.create({ doc: text, selection: { anchor: Math.min(cursor, text.length) }, extensions }),
    );
    // The arrows that go from tab to tab leave the focus there.
    if (document.activeElement?.getAttribute('role') !== 'tab') current.focus();
    latest.current.onRest(current);
    const kept = states.current;
    return () => {
      clearTimeout(timer);
      kept.set(tab.id, current.state);
    };
  }, [tab.id]);
  return <div ref={place} className="editor" />;
}

/** Shows an error at its place in the text, until something is typed there. */
export function markError(view: EditorView, from: number, message: string): void {
  const { doc } = view.state;
  const at = Math.min(from, doc.length);
  const word = /^[\w"$]+/.exec(doc.sliceString(at, at + 200))?.[0].length ?? 1;
  const to = Math.min(doc.length, at + word);
  view.dispatch(
    setDiagnostics(view.state, [{ from: Math.min(at, Math.max(0, to - 1)), to, severity: 'error', message }]),
  );
}

export const clearErrors = (view: EditorView): void => view.dispatch(setDiagnostics(view.state, []));
