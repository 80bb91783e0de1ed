import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from '@codemirror/autocomplete';
import { defaultKeymap, history, historyKeymap, indentWithTab } from '@codemirror/commands';
import { PostgreSQL, sql } from '@codemirror/lang-sql';
import { bracketMatching, syntaxHighlighting } from '@codemirror/language';
import { lintKeymap } from '@codemirror/lint';
import { highlightSelectionMatches, searchKeymap } from '@codemirror/search';
import type { Extension } from '@codemirror/state';
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers, type KeyBinding } from '@codemirror/view';
import { classHighlighter } from '@lezer/highlight';
import { serverCompletion } from './server-completion.ts';

const nonce = document.querySelector<HTMLMetaElement>('meta[name=skein-nonce]')?.content ?? '';

/** The style elements of an editor need it; the first state has it, too. */
export const styleNonce: Extension = EditorView.cspNonce.of(nonce);

type EditorOptions = {
  readonly session: () => string;
  readonly keys: readonly KeyBinding[];
  readonly onChange: (view: EditorView) => void;
};

/** Tab moves the focus after Escape, so that nobody is caught in the text. */
export const editorExtensions = ({ session, keys, onChange }: EditorOptions): Extension => [
  styleNonce,
  EditorView.contentAttributes.of({ 'aria-label': 'SQL', role: 'textbox', 'aria-multiline': 'true' }),
  lineNumbers(),
  history(),
  drawSelection(),
  highlightActiveLine(),
  highlightSelectionMatches(),
  bracketMatching(),
  closeBrackets(),
  EditorView.lineWrapping,
  syntaxHighlighting(classHighlighter),
  sql({ dialect: PostgreSQL }),
  autocompletion({ override: [serverCompletion(session)], icons: false }),
  keymap.of([
    ...keys,
    ...closeBracketsKeymap,
    ...completionKeymap,
    ...searchKeymap,
    ...lintKeymap,
    indentWithTab,
    ...defaultKeymap,
    ...historyKeymap,
  ]),
  EditorView.updateListener.of((update) => {
    if (update.docChanged || update.selectionSet) onChange(update.view);
  }),
];
