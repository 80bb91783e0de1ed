import type { CatalogInternalHandlers } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import { toServiceError } from '#shared/grpc/internal-auth.ts';
import type { CatalogContext } from '../context.ts';

/** Maximum number of changes that a watcher may lag behind. A slower one is disconnected, and starts again with all epochs. */
const BEHIND_MAX = 10_000;

/** Streams all epochs above 0, then every change, until either side ends the call. */
export function watchEpochs(context: CatalogContext): CatalogInternalHandlers['WatchEpochs'] {
  return (call) => {
    try {
      context.security.admit(call, ['coordinator']);
    } catch (error) {
      call.emit('error', toServiceError(error));
      return;
    }
    const stop = context.epochs.watch((changes) => {
      if (call.writableLength > BEHIND_MAX) {
        call.end();
        return;
      }
      call.write({ epochs: changes.map(({ principal, epoch }) => ({ principal, session_epoch: String(epoch) })) });
    });
    call.on('cancelled', stop);
    call.on('close', stop);
    call.on('error', stop);
  };
}
