import { useRef, type KeyboardEvent, type ReactNode } from 'react';
import { useLocation } from 'wouter';

type Props = {
  readonly tabs: readonly string[];
  /** The tab of the address; an unknown one is the first. */
  readonly chosen: string;
  readonly hrefOf: (name: string) => string;
  readonly label: string;
  readonly children: (name: string) => ReactNode;
};

/** Tabs whose choice is in the address; arrows go from one to the next. */
export function Tabs({ tabs, chosen, hrefOf, label, children }: Props): ReactNode {
  const [, navigate] = useLocation();
  const list = useRef<HTMLDivElement>(null);
  const now = tabs.includes(chosen) ? chosen : (tabs[0] ?? '');
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0) return;
    event.preventDefault();
    const to = (tabs.indexOf(now) + step + tabs.length) % tabs.length;
    navigate(hrefOf(tabs[to] ?? ''), { replace: true });
    list.current?.querySelectorAll<HTMLElement>('[role=tab]')[to]?.focus();
  };
  return (
    <>
      <div role="tablist" aria-label={label} className="tabs-of-page" ref={list} onKeyDown={onKeyDown}>
        {tabs.map((name) => (
          <button
            key={name}
            type="button"
            role="tab"
            id={`tab-${name}`}
            aria-selected={name === now}
            aria-controls="tab-panel"
            tabIndex={name === now ? 0 : -1}
            onClick={() => navigate(hrefOf(name), { replace: true })}
          >
            {name}
          </button>
        ))}
      </div>
      <div role="tabpanel" id="tab-panel" aria-labelledby={`tab-${now}`} tabIndex={0}>
        {children(now)}
      </div>
    </>
  );
}
