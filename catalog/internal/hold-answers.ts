import type { CatalogInternalHandlers } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import { decodeLeaseRequest, encodeLease } from '#shared/task/lease.ts';
import type { CatalogContext } from '../context.ts';
import { serveCoordinator } from './coordinator-stream.ts';

/** The stream of one coordinator's lease (`catalog/lease`). */
export function holdAnswers({ leases, security }: CatalogContext): CatalogInternalHandlers['HoldAnswers'] {
  return (call) =>
    serveCoordinator(security, call, (send) => {
      const holder = leases.open((lease) => send(encodeLease(lease)));
      call.on('data', (request) => {
        if (request.given_back) leases.release(holder);
        else void leases.renew(holder, decodeLeaseRequest(request));
      });
      call.on('end', () => call.end());
      return () => leases.lose(holder);
    });
}
