import type { FileLoad } from '#shared/task/load-rules.ts';

/**
 * Keeps of each file the first fault, which its answer row shows, and further ones while there is room: a statement may check thousands of
 * files that have a thousand each.
 */
export class KeptFaults {
  #left: number;

  /** @param most faults that are kept beside the first ones */
  constructor(most: number) {
    this.#left = most;
  }

  keep(loads: readonly FileLoad[]): readonly FileLoad[] {
    return loads.map((load) => {
      const more = Math.max(0, Math.min(load.faults.length - 1, this.#left));
      this.#left -= more;
      return { ...load, faults: load.faults.slice(0, 1 + more) };
    });
  }
}
