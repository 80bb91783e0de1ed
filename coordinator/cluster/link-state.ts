import type { QueryId } from '#shared/id.ts';
import { unreachable } from '#shared/must.ts';
import { printRelease, type Release } from '#shared/release.ts';
import type { WorkerInfo } from './worker-info.ts';

/** Time after its end in which a worker is expected back: an overloaded machine takes long to start a process. */
export const EXPECTED_MS = 30_000;

/**
 * A coordinator knows this of one worker.
 * ```
 * connecting ──beat──▶ live ──silence, broken stream, or a beat that says so──▶ lost ──attach──▶ connecting
 *      └──beat of another release, or no proof of being a worker──▶ refused ──attach: refused──beat of our release──▶ live
 * ```
 */
export type LinkState = Remembered &
  (
    | { readonly kind: 'connecting' }
    /** `lost` is aborted with WORKER_LOST when this life of the worker ends; `mayEnd`: it was permitted to end, and has not yet. */
    | { readonly kind: 'live'; readonly info: WorkerInfo; readonly lost: AbortController; readonly mayEnd: boolean }
    /** `reason` names the worker and both releases. */
    | { readonly kind: 'refused'; readonly reason: string }
    | { readonly kind: 'lost' }
  );

/** Known in every state. */
type Remembered = {
  /** The worker's last heartbeat, also of one that was refused or lost; null before the first. */
  readonly info: WorkerInfo | null;
  /** Time at which the link came into its kind of state, in ms since 1970. */
  readonly sinceMs: number;
  /** Time at which the worker was last there; at first, when it was first looked for. This and the next are monotonic. */
  readonly thereMs: number;
  /** A worker that has ended itself is expected back until then. */
  readonly expectedUntilMs: number;
  /** The run that the worker was last asked about to end. */
  readonly blamed: QueryId | null;
  /** Whether the worker has attached, or its silence has been told. */
  readonly isKnown: boolean;
  /** The cause for which it was last refused, until it attaches. */
  readonly refusedFor: string;
};

export type LinkEvent =
  /** A stream for heartbeats is opened. */
  | { readonly kind: 'attach' }
  /** `release` is ours; `lost` belongs to the life that begins, if this is another one than before. */
  | { readonly kind: 'beat'; readonly info: WorkerInfo; readonly release: Release; readonly lost: AbortController }
  | { readonly kind: 'unproven'; readonly reason: string }
  /** No beat came in its time, or the stream broke with an error. */
  | { readonly kind: 'silent' }
  /** The stream ended, or the link is closed. */
  | { readonly kind: 'ended' }
  /** The worker, which has asked for it, may end its process. */
  | { readonly kind: 'permitted' };

export type LinkMoment = { readonly nowMs: number; readonly monotonicMs: number };

export const firstLink = ({ nowMs, monotonicMs }: LinkMoment): LinkState => ({
  kind: 'connecting',
  info: null,
  sinceMs: nowMs,
  thereMs: monotonicMs,
  expectedUntilMs: 0,
  blamed: null,
  isKnown: false,
  refusedFor: '',
});

/** The state after an event. */
export function nextLink(state: LinkState, event: LinkEvent, at: LinkMoment): LinkState {
  const after = step(state, event, at);
  return after.kind === state.kind ? after : { ...after, sinceMs: at.nowMs };
}

/** Whether a state goes on with the life of the worker that another one was of. */
export const isSameLife = (before: LinkState, after: LinkState): boolean =>
  before.kind === 'live' && after.kind === 'live' && before.lost === after.lost;

function step(state: LinkState, event: LinkEvent, at: LinkMoment): LinkState {
  const remembered = rememberedOf(state);
  switch (event.kind) {
    case 'attach':
      // A refused worker stays refused until a beat shows that it was replaced.
      return state.kind === 'refused' ? state : { ...remembered, kind: 'connecting' };
    case 'beat':
      return afterBeat(state, event, at);
    case 'unproven':
      // One cause for all reasons: a stranger that gives another reason each time is told of once.
      return { ...remembered, kind: 'refused', reason: event.reason, isKnown: true, refusedFor: 'unproven' };
    case 'silent':
      return { ...remembered, kind: 'lost', isKnown: true };
    case 'ended':
      return { ...remembered, kind: 'lost' };
    case 'permitted':
      return state.kind === 'live' ? { ...state, mayEnd: true } : state;
    default:
      return unreachable(event);
  }
}

function afterBeat(
  state: LinkState,
  { info, release, lost }: Extract<LinkEvent, { readonly kind: 'beat' }>,
  { monotonicMs }: LinkMoment,
): LinkState {
  const seen = { ...rememberedOf(state), info, thereMs: monotonicMs, isKnown: true };
  const { hung, asksToEnd } = info;
  if (hung !== null) {
    // The process may take a moment to end and report again; only the first report counts.
    const blamed = state.kind === 'live' ? hung.queryId : state.blamed;
    return { ...seen, kind: 'lost', expectedUntilMs: monotonicMs + EXPECTED_MS, blamed };
  }
  const blamed = asksToEnd === null ? state.blamed : asksToEnd.queryId;
  if (info.release.skein !== release.skein || info.release.duckdb !== release.duckdb) {
    const reason = `${info.name} is ${printRelease(info.release)}, this coordinator ${printRelease(release)}`;
    return { ...seen, kind: 'refused', blamed, reason, refusedFor: reason };
  }
  const before = state.kind === 'live' && state.info.id === info.id ? state : undefined;
  return {
    ...seen,
    kind: 'live',
    blamed,
    refusedFor: before === undefined ? '' : state.refusedFor,
    lost: before?.lost ?? lost,
    mayEnd: before !== undefined && asksToEnd !== null && before.mayEnd,
  };
}

const rememberedOf = ({
  info,
  sinceMs,
  thereMs,
  expectedUntilMs,
  blamed,
  isKnown,
  refusedFor,
}: LinkState): Remembered => ({
  info,
  sinceMs,
  thereMs,
  expectedUntilMs,
  blamed,
  isKnown,
  refusedFor,
});
