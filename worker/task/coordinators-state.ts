import { unreachable } from '#shared/must.ts';

/**
 * The coordinators that a worker hears: the newest epoch, and when each epoch's coordinator was last heard, in monotonic milliseconds.
 * An epoch leaves the map when its coordinator falls silent; an older one than `epoch` can only be silent, unless its coordinator has handed
 * the lead over before another one was heard (`ending`): it is heard until it falls silent.
 */
export type CoordinatorsState = {
  readonly epoch: number;
  readonly heardMs: ReadonlyMap<number, number>;
  readonly ending: ReadonlySet<number>;
};

export type CoordinatorsEvent =
  | { readonly kind: 'heard'; readonly epoch: number; readonly atMs: number; readonly handsOver?: boolean }
  | { readonly kind: 'checked'; readonly atMs: number; readonly silenceMaxMs: number };

export const NO_COORDINATORS: CoordinatorsState = { epoch: 0, heardMs: new Map(), ending: new Set() };

/** Whether a newer coordinator has taken over from that of `epoch`. */
export const isReplaced = (state: CoordinatorsState, epoch: number): boolean =>
  epoch < state.epoch && !state.ending.has(epoch);

/** The state after `event`; a replaced coordinator is not heard. */
export function nextCoordinators(state: CoordinatorsState, event: CoordinatorsEvent): CoordinatorsState {
  switch (event.kind) {
    case 'heard': {
      const { epoch, atMs, handsOver = false } = event;
      if (isReplaced(state, epoch)) return state;
      return {
        epoch: Math.max(state.epoch, epoch),
        heardMs: new Map(state.heardMs).set(epoch, atMs),
        ending: handsOver ? new Set(state.ending).add(epoch) : state.ending,
      };
    }
    case 'checked': {
      const isHeard = ([, ms]: readonly [number, number]): boolean => event.atMs - ms <= event.silenceMaxMs;
      const heardMs = new Map([...state.heardMs].filter(isHeard));
      return { ...state, heardMs, ending: new Set([...state.ending].filter((epoch) => heardMs.has(epoch))) };
    }
    default:
      return unreachable(event);
  }
}
