import { useEffect, useState, type ReactNode } from 'react';

type Props = {
  readonly label: string;
  /** The value that counts, which the address may change, too. */
  readonly value: string;
  readonly type?: 'search' | 'number' | 'datetime-local' | 'text';
  readonly onSet: (value: string) => void;
};

/** A field whose text counts when Enter is pressed, or when the field is left. */
export function FilterField({ label, value, type = 'search', onSet }: Props): ReactNode {
  const [text, setText] = useState(value);
  useEffect(() => setText(value), [value]);
  const set = (): void => {
    if (text.trim() !== value) onSet(text.trim());
  };
  return (
    <label>
      {label}
      <input
        type={type}
        value={text}
        onChange={({ target }) => setText(target.value)}
        onBlur={set}
        onKeyDown={({ key }) => key === 'Enter' && set()}
      />
    </label>
  );
}
