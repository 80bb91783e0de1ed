import type { CatalogInternalHandlers } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import type { CatalogContext } from '../context.ts';
import type { EpochChange } from '../principal/session-epochs.ts';
import type { EndedSignIn } from '../store/postgres/app-sign-in-store.ts';
import { serveCoordinator } from './coordinator-stream.ts';

/** Streams all epochs above 0 and all sign-ins that have ended, in one message, then every change, until either side ends the call. */
export function watchEpochs({
  epochs,
  endedSignIns,
  security,
}: CatalogContext): CatalogInternalHandlers['WatchEpochs'] {
  return (call) =>
    serveCoordinator(security, call, (send) => {
      let first: readonly EndedSignIn[] | undefined = [];
      const endOfSignIns = endedSignIns.watch((ended) => {
        if (first === undefined) send(message([], ended));
        else first = ended;
      });
      const endOfEpochs = epochs.watch((changes) => {
        send(message(changes, first ?? []));
        first = undefined;
      });
      return () => {
        endOfSignIns();
        endOfEpochs();
      };
    });
}

const message = (changes: readonly EpochChange[], ended: readonly EndedSignIn[]) => ({
  epochs: changes.map(({ principal, epoch, stopped }) => ({ principal, session_epoch: String(epoch), stopped })),
  ended_sign_ins: ended.map(({ id, untilMs }) => ({ id, until_ms: String(untilMs) })),
});
