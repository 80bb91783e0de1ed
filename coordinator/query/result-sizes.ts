import { LRUCache } from 'lru-cache';
import type { StatementShape } from '../quarantine/quarantine.ts';

/** Shapes that are remembered, those that ran last. */
const SHAPES_MAX = 10_000;

type Shape = Pick<StatementShape, 'tenant' | 'fingerprint'>;

/** Remembers how many rows the last query of each shape gave: for the next one, a better guess than a plan's. */
export class ResultSizes {
  readonly #rows = new LRUCache<string, number>({ max: SHAPES_MAX });

  /** Rows that the last query of the shape gave; undefined when none is remembered. */
  last(shape: Shape): number | undefined {
    return this.#rows.get(keyOf(shape));
  }

  ended(shape: Shape, rows: number): void {
    this.#rows.set(keyOf(shape), rows);
  }
}

const keyOf = ({ tenant, fingerprint }: Shape): string => `${tenant} ${fingerprint}`;
