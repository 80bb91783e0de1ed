import { useState, type ReactNode } from 'react';

/** Opens what loads a file. It stays open, because a file may be on its way. */
export function LoadButton({ children }: { readonly children: ReactNode }): ReactNode {
  const [isOpen, setOpen] = useState(false);
  return (
    <>
      <p className="bar">
        <button type="button" className="primary" aria-expanded={isOpen} onClick={() => setOpen(!isOpen)}>
          Load a file
        </button>
      </p>
      {isOpen ? children : null}
    </>
  );
}
