import type { CatalogInternalHandlers } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import { toServiceError } from '#shared/grpc/internal-auth.ts';
import type { CatalogContext } from '../context.ts';

/** Maximum number of messages that a coordinator may lag behind. A slower one is disconnected, and asks for every table again. */
const BEHIND_MAX = 10_000;

/** The stream of one coordinator's lease (`catalog/lease`). */
export function holdAnswers(context: CatalogContext): CatalogInternalHandlers['HoldAnswers'] {
  const { leases, security } = context;
  return (call) => {
    try {
      security.admit(call, ['coordinator']);
    } catch (error) {
      call.emit('error', toServiceError(error));
      return;
    }
    const holder = leases.open(({ renewal, changes, validMs, answerMs }) => {
      if (call.writableLength > BEHIND_MAX) call.destroy();
      else call.write({ renewal, changes: String(changes), valid_ms: validMs, answer_ms: answerMs });
    });
    call.on('data', ({ renewal, changes, given_back: isGivenBack }) => {
      if (isGivenBack) leases.release(holder);
      else void leases.renew(holder, { renewal, changes: Number(changes) });
    });
    call.on('end', () => call.end());
    const lost = (): void => leases.lose(holder);
    call.on('cancelled', lost);
    call.on('close', lost);
    call.on('error', lost);
  };
}
