import { ServerInterceptingCall, type ServerInterceptor } from '@grpc/grpc-js';
import { SkeinError } from '#shared/error.ts';
import type { FlightDoor } from './flight-door.ts';
import { flightError } from './flight-error.ts';
import { logFailure } from './flight-service.ts';

/**
 * Checks who makes a call before a byte of its message is read: messages have up to `coordinator.flight_message_bytes_max` bytes, which wait in
 * memory until they are whole. A call without credentials ends at once, however slowly its message would come.
 */
export const signInFirst =
  (door: Pick<FlightDoor, 'visits' | 'standby' | 'log'>): ServerInterceptor =>
  (_method, call) =>
    new ServerInterceptingCall(call, {
      start: (next) =>
        next({
          onReceiveMetadata: (metadata, proceed) => {
            const refuse = (thrown: unknown): void => {
              logFailure(door, thrown);
              call.sendStatus(flightError(thrown));
            };
            const check = async (): Promise<void> => {
              requireActive(door);
              await door.visits.signIn({ metadata, getPeer: () => call.getPeer() });
            };
            check().then(() => proceed(metadata), refuse);
          },
        }),
    });

/** @throws NOT_ACTIVE */
function requireActive({ standby }: Pick<FlightDoor, 'standby'>): void {
  const reason = standby();
  if (reason !== undefined) throw new SkeinError('NOT_ACTIVE', reason);
}
