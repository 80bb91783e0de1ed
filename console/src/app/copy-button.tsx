import { useState, type ReactNode } from 'react';

/** Copies a text. @param done what is told when it is copied @returns what to tell: a browser may refuse */
export const copyText = (text: string, done = 'Copied'): Promise<string> =>
  navigator.clipboard.writeText(text).then(
    () => done,
    () => 'The browser refuses to copy',
  );

type Props = {
  readonly text: string;
  readonly label?: string;
  readonly title?: string;
  readonly disabled?: boolean;
};

/** A button that copies a text, and says whether it has. */
export function CopyButton({ text, label = 'Copy', title, disabled = false }: Props): ReactNode {
  const [told, tell] = useState('');
  return (
    <>
      <button type="button" title={title} disabled={disabled} onClick={() => void copyText(text).then(tell)}>
        {label}
      </button>{' '}
      <span role="status" className="quiet">
        {told}
      </span>
    </>
  );
}
