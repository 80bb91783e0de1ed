import { closeBrackets } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { PostgreSQL, sql } from '@codemirror/lang-sql';
import { bracketMatching, defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { searchKeymap } from '@codemirror/search';
import { EditorState } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view';
import { useEffect, useRef, type ReactNode } from 'react';

type Props = {
  readonly initial: string;
  /** Ctrl+Enter. @param chosen the selected text, else all of it */
  readonly onRun: (chosen: string) => void;
  readonly onReady: (view: EditorView) => void;
};

/** The text of a statement. React draws it once: keys are CodeMirror's alone, however much is shown below. */
export function Editor({ initial, onRun, onReady }: Props): ReactNode {
  const place = useRef<HTMLDivElement>(null);
  const run = useRef(onRun);
  run.current = onRun;
  useEffect(() => {
    if (place.current === null) return;
    const view = new EditorView({
      parent: place.current,
      state: EditorState.create({ doc: initial, extensions: extensions((chosen) => run.current(chosen)) }),
    });
    onReady(view);
    view.focus();
    return () => view.destroy();
    // The editor keeps its own text.
  }, []);
  return <div ref={place} className="editor" />;
}

/** The text to run: the selection, else everything. */
export const chosenText = ({ state }: EditorView): string => {
  const { from, to, empty } = state.selection.main;
  return empty ? state.doc.toString() : state.sliceDoc(from, to);
};

const nonce = document.querySelector<HTMLMetaElement>('meta[name=skein-nonce]')?.content ?? '';

const extensions = (run: (chosen: string) => void) => [
  EditorView.cspNonce.of(nonce),
  EditorView.contentAttributes.of({ 'aria-label': 'SQL', role: 'textbox' }),
  lineNumbers(),
  history(),
  drawSelection(),
  highlightActiveLine(),
  bracketMatching(),
  closeBrackets(),
  EditorView.lineWrapping,
  syntaxHighlighting(defaultHighlightStyle),
  sql({ dialect: PostgreSQL }),
  keymap.of([
    {
      key: 'Mod-Enter',
      run: (view) => {
        run(chosenText(view));
        return true;
      },
    },
    indentWithTab,
    ...defaultKeymap,
    ...historyKeymap,
    ...searchKeymap,
  ]),
];
