import { beginsPrivately } from '#shared/sql/private-statement.ts';
import { call } from '../api/call.ts';
import { Store } from '../app/store.ts';
import { tellChange } from '../catalog/catalog-changes.ts';
import { CatalogTree } from '../catalog/catalog-tree.ts';
import { parametersOf } from '../runs/parameters.ts';
import { Runs } from '../runs/runs.ts';
import { tellOutcome } from '../runs/tell-outcome.ts';
import { OpenTabs } from '../tabs/open-tabs.ts';
import type { TabRecord } from '../tabs/tab-record.ts';

type Told = { readonly tabId: string; readonly text: string };

/** All that the page Ask holds for a user, while other pages are looked at, too. */
export class AskState {
  /** Tenant and id of the user. */
  readonly owner: string;
  readonly tabs: OpenTabs;
  readonly tree = new CatalogTree();
  readonly runs: Runs;
  /** A word about what a button of a tab has done. */
  readonly told = new Store<Told>({ tabId: '', text: '' });
  /** Statements that have ended: each may have changed its session. */
  readonly ends = new Store(0);

  constructor(owner: string) {
    this.owner = owner;
    this.tabs = new OpenTabs(owner);
    this.runs = new Runs({
      parametersOf: (tab, sql) => {
        const now = this.tabs.state.value.tabs.find(({ id }) => id === tab.id) ?? tab;
        return parametersOf(sql, now.parameters);
      },
      onStarted: ({ id }, run) => {
        document.title = '… Skein';
        this.tabs.change(id, { run });
      },
      onForgotten: ({ id }) => this.tabs.change(id, { run: null }),
      onEnded: ({ id }, outcome) => {
        // No secret stays in a field.
        if (beginsPrivately(outcome.sql)) this.tabs.change(id, { parameters: {} });
        if (outcome.state === 'done') tellChange(outcome.sql);
        this.ends.update((count) => count + 1);
        document.title = `${outcome.state === 'failed' ? '✗' : '✓'} ${tellOutcome(outcome)} – Skein`;
      },
    });
  }

  /** Writes the tabs when the page goes. @returns what ends it: another user has signed in, who has tabs of his own */
  begin(): () => void {
    const onHide = (): void => this.tabs.flush();
    addEventListener('pagehide', onHide);
    return () => {
      removeEventListener('pagehide', onHide);
      this.tabs.end();
    };
  }

  tell({ id }: Pick<TabRecord, 'id'>, text: string): void {
    this.told.update(() => ({ tabId: id, text }));
  }

  async close(id: string): Promise<void> {
    const session = this.tabs.state.value.tabs.find((tab) => tab.id === id)?.session;
    this.runs.forget(id);
    await this.tabs.close(id);
    if (session === undefined) return;
    await call('/api/session', { method: 'DELETE', headers: { 'x-skein-session': session } }).catch(() => undefined);
  }
}
