import type { CatalogInternalClient } from '#proto/generated/skein/catalog/v1/CatalogInternal.ts';
import type { Lease as LeaseMessage } from '#proto/generated/skein/catalog/v1/Lease.ts';
import { decodeLease, encodeLeaseRequest } from '#shared/task/lease.ts';
import { internalMetadata } from '#shared/grpc/internal-auth.ts';
import type { Keyring } from '#shared/keyring.ts';
import { AnswerLease } from './answer-lease.ts';

/** A lease on the answers of the catalog, over a stream of `HoldAnswers`. */
export function answerLease(client: CatalogInternalClient, keyring: Keyring): AnswerLease {
  return new AnswerLease(({ lease, broken }) => {
    const stream = client.HoldAnswers(internalMetadata(keyring));
    stream.on('data', (message: LeaseMessage) => lease(decodeLease(message)));
    stream.on('error', broken);
    stream.on('end', broken);
    return {
      send: (request) => stream.write(encodeLeaseRequest(request)),
      end: () => {
        stream.write({ given_back: true });
        stream.end();
      },
    };
  });
}
