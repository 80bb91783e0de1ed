import type { ReactNode } from 'react';
import type { Passing } from './graph-of.ts';
import type { Snapshot } from './table-answers.ts';

/** Width of a lane and height of a row, in pixels. */
const [LANE_PX, ROW_PX] = [14, 34];
/** Lanes that are drawn; more are one. */
const LANES_MAX = 12;

const xOf = (lane: number): number => Math.min(lane, LANES_MAX) * LANE_PX + LANE_PX / 2;

/** The lines of the graph that cross a row, and the row's own dot. */
export function LanesOf({ own, lanes }: { readonly own: Snapshot; readonly lanes: readonly Passing[] }): ReactNode {
  const width =
    (Math.min(LANES_MAX, Math.max(own.lane, ...lanes.map(({ from, to }) => Math.max(from, to)))) + 1) * LANE_PX;
  return (
    <svg width={width} height={ROW_PX} aria-hidden="true" className="lanes">
      {lanes.map(({ from, to, part }) => (
        <path key={`${from} ${to} ${part}`} d={lineOf(from, to, part)} />
      ))}
      <circle cx={xOf(own.lane)} cy={ROW_PX / 2} r={own.is_current_ancestor ? 5 : 4} />
    </svg>
  );
}

function lineOf(from: number, to: number, part: Passing['part']): string {
  const [top, bottom] = [part === 'lower' ? ROW_PX / 2 : 0, part === 'upper' ? ROW_PX / 2 : ROW_PX];
  return `M${xOf(from)},${top} L${xOf(to)},${bottom}`;
}
