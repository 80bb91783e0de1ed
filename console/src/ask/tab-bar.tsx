import { Menu } from '@base-ui/react/menu';
import { useState, type KeyboardEvent, type ReactNode } from 'react';
import { useStore } from '../app/store.ts';
import type { TabRecord } from '../tabs/tab-record.ts';
import type { AskState } from './ask-state.ts';

/** The tabs of this window. */
export function TabBar({ ask }: { readonly ask: AskState }): ReactNode {
  const { tabs, activeId, closed } = useStore(ask.tabs.state, (value) => value);
  const onKeyDown = (event: KeyboardEvent): void => {
    const at = tabs.findIndex(({ id }) => id === activeId);
    const step = event.key === 'ArrowRight' ? 1 : event.key === 'ArrowLeft' ? -1 : 0;
    if (step === 0 && event.key !== 'Delete') return;
    event.preventDefault();
    if (event.key === 'Delete') void ask.close(activeId);
    const next = tabs[(at + step + tabs.length) % tabs.length];
    if (step === 0 || next === undefined) return;
    ask.tabs.activate(next.id);
    document.querySelector<HTMLElement>(`[id='tab-${next.id}']`)?.focus();
  };
  return (
    <div className="tabs">
      <div role="tablist" aria-label="Tabs" onKeyDown={onKeyDown}>
        {tabs.map((tab) => (
          <Tab key={tab.id} ask={ask} tab={tab} isActive={tab.id === activeId} />
        ))}
      </div>
      <button type="button" aria-label="Close this tab" title="Close this tab" onClick={() => void ask.close(activeId)}>
        ✕
      </button>
      <button type="button" aria-label="New tab" title="New tab" onClick={() => void ask.tabs.add()}>
        +
      </button>
      <Menu.Root>
        <Menu.Trigger disabled={closed.length === 0}>Closed</Menu.Trigger>
        <Menu.Portal>
          <Menu.Positioner className="positioner">
            <Menu.Popup className="menu">
              {closed.map(({ id, title, text }) => (
                <Menu.Item key={id} onClick={() => void ask.tabs.reopen(id)}>
                  {title} <small className="quiet">{text.slice(0, 60)}</small>
                </Menu.Item>
              ))}
            </Menu.Popup>
          </Menu.Positioner>
        </Menu.Portal>
      </Menu.Root>
    </div>
  );
}

type TabProps = { readonly ask: AskState; readonly tab: TabRecord; readonly isActive: boolean };

/** A double click, or F2, names the tab. */
function Tab({ ask, tab, isActive }: TabProps): ReactNode {
  const isRunning = useStore(ask.runs.state, () => ask.runs.isRunning(tab.id));
  const [isNaming, setNaming] = useState(false);
  const name = (title: string): void => {
    setNaming(false);
    if (title.trim() !== '') ask.tabs.change(tab.id, { title: title.trim() });
  };
  if (isNaming) {
    return (
      <input
        aria-label="Name of the tab"
        defaultValue={tab.title}
        autoFocus
        onBlur={({ target }) => name(target.value)}
        onKeyDown={(event) => {
          event.stopPropagation();
          if (event.key === 'Enter') name(event.currentTarget.value);
          else if (event.key === 'Escape') setNaming(false);
        }}
      />
    );
  }
  return (
    <button
      type="button"
      role="tab"
      id={`tab-${tab.id}`}
      aria-selected={isActive}
      aria-controls="tab-panel"
      tabIndex={isActive ? 0 : -1}
      onClick={() => ask.tabs.activate(tab.id)}
      onDoubleClick={() => setNaming(true)}
      onKeyDown={({ key }) => key === 'F2' && setNaming(true)}
    >
      {isRunning ? '● ' : ''}
      {tab.title}
    </button>
  );
}
