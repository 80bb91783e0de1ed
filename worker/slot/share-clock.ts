/** Most that are remembered without work; those that came first are forgotten first. */
const REMEMBERED_MAX = 10_000;

/**
 * Tells who of several has had more than its share of what all of them had (the virtual time of generalized processor sharing, Parekh and
 * Gallager 1993). Time goes on by what all had together, divided by the weights of those that have work; each one's own time by what it
 * had, divided by its weight. Whoever had no work comes back at the time of now: it can claim nothing, and keeps what it had too much.
 */
export class ShareClock<Name> {
  readonly #due = new Map<Name, number>();
  #now = 0;
  #active: ReadonlyMap<Name, number> = new Map();

  /** Goes on by what each has had since the last call, in ms. `active`: the weights of those that have work. */
  advance(hadMs: ReadonlyMap<Name, number>, active: ReadonlyMap<Name, number>): void {
    for (const name of active.keys()) {
      if (!this.#active.has(name)) this.#due.set(name, Math.max(this.#due.get(name) ?? 0, this.#now));
    }
    const sharing = new Map([...this.#active, ...active]);
    let weights = 0;
    let totalMs = 0;
    for (const [name, weight] of sharing) {
      weights += weight;
      totalMs += hadMs.get(name) ?? 0;
      this.#due.set(name, (this.#due.get(name) ?? this.#now) + (hadMs.get(name) ?? 0) / weight);
    }
    if (weights > 0) this.#now += totalMs / weights;
    this.#active = active;
    for (const [name, due] of this.#due) {
      const isTooMany = this.#due.size > REMEMBERED_MAX;
      if (!active.has(name) && (due <= this.#now || isTooMany)) this.#due.delete(name);
    }
  }

  /** How much more than its share one that has work has had, in ms; negative = less. */
  leadMs(name: Name): number {
    return ((this.#due.get(name) ?? this.#now) - this.#now) * (this.#active.get(name) ?? 1);
  }
}
