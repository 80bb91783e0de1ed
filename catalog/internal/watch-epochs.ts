import type { CatalogInternalHandlers } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import type { CatalogContext } from '../context.ts';
import { serveCoordinator } from './coordinator-stream.ts';

/** Streams all epochs above 0, then every change, until either side ends the call. */
export function watchEpochs({ epochs, security }: CatalogContext): CatalogInternalHandlers['WatchEpochs'] {
  return (call) =>
    serveCoordinator(security, call, (send) =>
      epochs.watch((changes) =>
        send({
          epochs: changes.map(({ principal, epoch, stopped }) => ({
            principal,
            session_epoch: String(epoch),
            stopped,
          })),
        }),
      ),
    );
}
