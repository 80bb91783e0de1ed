import type { TabRecord } from './tab-record.ts';

const STORE = 'tabs';

/** The tabs of one user in this browser (IndexedDB). */
export class TabDatabase {
  readonly #open: Promise<IDBDatabase>;

  /** @param owner tenant and id of the user: another one who signs in here sees none of them */
  constructor(owner: string) {
    this.#open = new Promise((resolve, reject) => {
      const request = indexedDB.open(`skein-console ${owner}`, 1);
      request.addEventListener('upgradeneeded', () => request.result.createObjectStore(STORE, { keyPath: 'id' }));
      request.addEventListener('success', () => resolve(request.result));
      request.addEventListener('error', () => reject(failure(request.error)));
    });
  }

  async all(): Promise<readonly TabRecord[]> {
    return (await this.#run('readonly', (store) => store.getAll())) as readonly TabRecord[];
  }

  async get(id: string): Promise<TabRecord | undefined> {
    return (await this.#run('readonly', (store) => store.get(id))) as TabRecord | undefined;
  }

  async put(record: TabRecord): Promise<void> {
    await this.#run('readwrite', (store) => store.put(record));
  }

  async remove(id: string): Promise<void> {
    await this.#run('readwrite', (store) => store.delete(id));
  }

  async #run(mode: IDBTransactionMode, act: (store: IDBObjectStore) => IDBRequest): Promise<unknown> {
    const database = await this.#open;
    return new Promise((resolve, reject) => {
      const transaction = database.transaction(STORE, mode);
      const request = act(transaction.objectStore(STORE));
      transaction.addEventListener('complete', () => resolve(request.result));
      transaction.addEventListener('abort', () => reject(failure(transaction.error)));
    });
  }
}

const failure = (error: DOMException | null): Error => error ?? new Error('the browser keeps no tabs');
