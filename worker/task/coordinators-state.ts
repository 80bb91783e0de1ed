import { unreachable } from '#shared/must.ts';

/**
 * The coordinators that a worker hears: the newest epoch, and when each epoch's coordinator was last heard, in monotonic milliseconds.
 * An epoch leaves the map when its coordinator falls silent; an older one than `epoch` can only be silent.
 */
export type CoordinatorsState = { readonly epoch: number; readonly heardMs: ReadonlyMap<number, number> };

export type CoordinatorsEvent =
  | { readonly kind: 'heard'; readonly epoch: number; readonly atMs: number }
  | { readonly kind: 'checked'; readonly atMs: number; readonly silenceMaxMs: number };

export const NO_COORDINATORS: CoordinatorsState = { epoch: 0, heardMs: new Map() };

/** Whether a newer coordinator has taken over from that of `epoch`. */
export const isReplaced = (state: CoordinatorsState, epoch: number): boolean => epoch < state.epoch;

/** The state after `event`; a replaced coordinator is not heard. */
export function nextCoordinators(state: CoordinatorsState, event: CoordinatorsEvent): CoordinatorsState {
  switch (event.kind) {
    case 'heard': {
      const { epoch, atMs } = event;
      return isReplaced(state, epoch) ? state : { epoch, heardMs: new Map(state.heardMs).set(epoch, atMs) };
    }
    case 'checked': {
      const isHeard = ([, ms]: readonly [number, number]): boolean => event.atMs - ms <= event.silenceMaxMs;
      return { ...state, heardMs: new Map([...state.heardMs].filter(isHeard)) };
    }
    default:
      return unreachable(event);
  }
}
