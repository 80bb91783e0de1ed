/** Number of ids remembered, so that a task whose start arrives after its cancel does not run. */
const REMEMBERED_MAX = 10_000;

/** A bounded set of the most recently added ids. */
export class RecentIds<Id extends string> {
  readonly #ids = new Set<Id>();

  has(id: Id): boolean {
    return this.#ids.has(id);
  }

  add(id: Id): void {
    this.#ids.delete(id);
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > REMEMBERED_MAX && oldest !== undefined) this.#ids.delete(oldest);
  }
}
