import { Dialog } from '@base-ui/react/dialog';
import { useEffect, useState, type KeyboardEvent, type ReactNode } from 'react';

/** Something that the palette does. */
export type Command = { readonly title: string; readonly run: () => void };

/** The command palette: Ctrl+K opens it, words choose, Enter runs. */
export function Palette({ commands }: { readonly commands: readonly Command[] }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  useEffect(() => {
    const onKey = (event: globalThis.KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.key.toLowerCase() !== 'k') return;
      event.preventDefault();
      event.stopPropagation();
      setOpen(true);
    };
    addEventListener('keydown', onKey, { capture: true });
    return () => removeEventListener('keydown', onKey, { capture: true });
  }, []);
  return (
    <Dialog.Root open={isOpen} onOpenChange={setOpen}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop" />
        <Dialog.Popup className="dialog palette">
          <Dialog.Title className="hidden">Commands</Dialog.Title>
          <Choices commands={commands} onDone={() => setOpen(false)} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  );
}

type Props = { readonly commands: readonly Command[]; readonly onDone: () => void };

const showOption = (option: HTMLElement | null): void => option?.scrollIntoView({ block: 'nearest' });

function Choices({ commands, onDone }: Props): ReactNode {
  const [words, setWords] = useState('');
  const [at, setAt] = useState(0);
  const found = commands.filter(({ title }) =>
    words
      .toLowerCase()
      .split(/\s+/)
      .every((word) => title.toLowerCase().includes(word)),
  );
  const chosen = Math.min(at, Math.max(0, found.length - 1));
  const run = (command: Command | undefined): void => {
    if (command === undefined) return;
    onDone();
    command.run();
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.key === 'ArrowDown') setAt(Math.min(found.length - 1, chosen + 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(0, chosen - 1));
    else if (event.key === 'Enter') run(found[chosen]);
    else return;
    event.preventDefault();
  };
  return (
    <>
      <input
        role="combobox"
        aria-label="Command"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={found.length > 0 ? `palette-${chosen}` : undefined}
        placeholder="What to do"
        autoFocus
        value={words}
        onChange={({ target }) => setWords(target.value)}
        onKeyDown={onKeyDown}
      />
      <div id="palette-list" role="listbox" aria-label="Commands">
        {found.map((command, i) => (
          <div
            // Two tabs may have one name.
            key={`${i} ${command.title}`}
            ref={i === chosen ? showOption : null}
            id={`palette-${i}`}
            role="option"
            aria-selected={i === chosen}
            onClick={() => run(command)}
          >
            {command.title}
          </div>
        ))}
      </div>
    </>
  );
}
