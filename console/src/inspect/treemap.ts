/** A rectangle of a treemap, in parts of the whole. */
export type Tile = {
  readonly index: number;
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
};

/** Rectangles that are drawn; what is smaller is one sum. */
export const TILES_MAX = 500;

/**
 * Places weights as rectangles of their share of the square, in rows whose tiles are as square as may be (squarified treemap, Bruls et al.).
 * @param weights the largest first, none negative
 */
export function treemap(weights: readonly number[], width = 1, height = 1): readonly Tile[] {
  const total = weights.reduce((sum, one) => sum + one, 0);
  if (total <= 0) return [];
  const areas = weights.map((one) => (one / total) * width * height);
  const tiles: Tile[] = [];
  const free = { x: 0, y: 0, width, height };
  for (let from = 0; from < areas.length;) {
    const side = Math.min(free.width, free.height);
    let to = from + 1;
    while (to < areas.length && worst(areas, from, to + 1, side) <= worst(areas, from, to, side)) to += 1;
    place(areas, { from, to }, free, tiles);
    from = to;
  }
  return tiles;
}

/** The longest shape of a row, as the ratio of its sides. */
function worst(areas: readonly number[], from: number, to: number, side: number): number {
  const row = areas.slice(from, to);
  const sum = row.reduce((all, one) => all + one, 0);
  const [most, least] = [row[0] ?? 0, row.at(-1) ?? 0];
  if (sum === 0 || least === 0) return Infinity;
  return Math.max((side * side * most) / (sum * sum), (sum * sum) / (side * side * least));
}

function place(
  areas: readonly number[],
  { from, to }: { readonly from: number; readonly to: number },
  free: { x: number; y: number; width: number; height: number },
  tiles: Tile[],
): void {
  const row = areas.slice(from, to);
  const sum = row.reduce((all, one) => all + one, 0);
  const isColumn = free.width >= free.height;
  const side = isColumn ? free.height : free.width;
  const depth = side === 0 ? 0 : sum / side;
  let at = 0;
  for (const [i, area] of row.entries()) {
    const length = depth === 0 ? 0 : area / depth;
    tiles.push(
      isColumn
        ? { index: from + i, x: free.x, y: free.y + at, width: depth, height: length }
        : { index: from + i, x: free.x + at, y: free.y, width: length, height: depth },
    );
    at += length;
  }
  if (isColumn) {
    free.x += depth;
    free.width -= depth;
  } else {
    free.y += depth;
    free.height -= depth;
  }
}
