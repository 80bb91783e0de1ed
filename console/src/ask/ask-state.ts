import { call } from '../api/call.ts';
import { Store } from '../app/store.ts';
import { CatalogTree } from '../catalog/catalog-tree.ts';
import { parametersOf } from '../runs/parameters.ts';
import { Runs } from '../runs/runs.ts';
import { tellOutcome } from '../runs/tell-outcome.ts';
import { OpenTabs } from '../tabs/open-tabs.ts';

/** All that the page Ask holds for a user, while other pages are looked at, too. */
export class AskState {
  readonly tabs: OpenTabs;
  readonly tree = new CatalogTree();
  readonly runs: Runs;
  /** Statements that have ended: each may have changed its session. */
  readonly ends = new Store(0);

  constructor(owner: string) {
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
      onEnded: (_tab, outcome) => {
        this.ends.update((count) => count + 1);
        document.title = `${outcome.state === 'failed' ? '✗' : '✓'} ${tellOutcome(outcome)} – Skein`;
      },
    });
    addEventListener('pagehide', () => this.tabs.flush());
  }

  async close(id: string): Promise<void> {
    const session = this.tabs.state.value.tabs.find((tab) => tab.id === id)?.session;
    await this.tabs.close(id);
    if (session === undefined) return;
    await call('/api/session', { method: 'DELETE', headers: { 'x-skein-session': session } }).catch(() => undefined);
  }
}
