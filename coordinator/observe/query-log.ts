import type { QueryEntry } from './entries.ts';

/** A change of a statement. `number` counts those of its tenant, from 1. */
export type QueryChange = { readonly number: number; readonly query: QueryEntry };

/** Changes that a log keeps for streams that come back. */
const CHANGES_MAX = 256;

/**
 * The last changes of a tenant's statements. The id of a change, `epoch.log.number`, names the coordinator's term, the log of it and the
 * change, so that the id of another coordinator or of an earlier log of the tenant is never taken for one of this log.
 */
export class QueryLog {
  readonly #prefix: string;
  readonly #changes: QueryChange[] = [];
  #number = 0;

  constructor(epoch: number, log: number) {
    this.#prefix = `${epoch}.${log}.`;
  }

  add(query: QueryEntry): QueryChange {
    this.#number += 1;
    const change = { number: this.#number, query };
    this.#changes.push(change);
    if (this.#changes.length > CHANGES_MAX) this.#changes.shift();
    return change;
  }

  /** Id of a change; of the last one when none is named. */
  idOf(number = this.#number): string {
    return `${this.#prefix}${number}`;
  }

  /** The changes after the one with this id; null when the log does not have all of them, or the id is not of this log. */
  after(id: string): readonly QueryChange[] | null {
    const text = id.startsWith(this.#prefix) ? id.slice(this.#prefix.length) : '';
    if (!/^\d{1,15}$/.test(text)) return null;
    const last = Number(text);
    const oldest = this.#changes[0]?.number ?? this.#number + 1;
    if (last > this.#number || last < oldest - 1) return null;
    return this.#changes.filter(({ number }) => number > last);
  }
}
