import type { CatalogInternalClient } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import type { Lease as LeaseMessage } from '#proto/generated/skein/catalog/v1/Lease.ts';
import { internalMetadata } from '#shared/grpc/internal-auth.ts';
import type { Keyring } from '#shared/keyring.ts';
import { AnswerLease } from './answer-lease.ts';

/** A lease on the answers of the catalog, over a stream of `HoldAnswers`. */
export function answerLease(client: CatalogInternalClient, keyring: Keyring): AnswerLease {
  return new AnswerLease(({ lease, broken }) => {
    const stream = client.HoldAnswers(internalMetadata(keyring));
    stream.on('data', (message: LeaseMessage) =>
      lease({
        renewal: message.renewal,
        changes: Number(message.changes),
        validMs: message.valid_ms,
        answerMs: message.answer_ms,
      }),
    );
    stream.on('error', broken);
    stream.on('end', broken);
    return {
      send: ({ renewal, changes }) => stream.write({ renewal, changes: String(changes) }),
      end: () => {
        stream.write({ given_back: true });
        stream.end();
      },
    };
  });
}
