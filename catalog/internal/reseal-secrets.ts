import type { ResealSecretsRequest } from '#proto/generated/skein/catalog/v1/ResealSecretsRequest.ts';
import { SkeinError } from '#shared/error.ts';
import type { CatalogContext } from '../context.ts';
import { engineKeyOwner, ownKeyOwner } from '../storage/open-profile.ts';
import { listProfiles, updateProfile } from '../store/postgres/profile-store.ts';
import {
  authenticatorOwner,
  endEnrolments,
  replaceAuthenticatorSecret,
  sealedAuthenticators,
} from '../store/postgres/factor-store.ts';
import { providerSecretOwner, replaceProviderSecret, sealedProviderSecrets } from '../store/postgres/provider-store.ts';
import { transact } from '../store/postgres/transact.ts';
import { replaceSealedSecret, sealedWebhookSecrets, webhookSecretOwner } from '../store/postgres/webhook-store.ts';

/**
 * Encrypts every stored secret again that the first key has not encrypted: keys of buckets, secrets of webhooks, of
 * identity providers and of authenticators. Enrolments that are not finished end.
 * @throws INVALID_CONFIGURATION without the keys that the request names, SECRET_UNREADABLE
 */
export async function resealSecrets(
  { store, sealing }: CatalogContext,
  request: ResealSecretsRequest,
): Promise<{ resealed: number }> {
  requireKeys(sealing.ids(), request);
  let resealed = 0;
  if (request.check_only) return { resealed };
  const again = (sealed: string, owner: string): string => {
    if (sealing.isCurrent(sealed)) return sealed;
    resealed += 1;
    return sealing.seal(sealing.open(sealed, owner), owner);
  };
  await transact(store.db, async (tx) => {
    for (const { catalogId, sealedKey, sealedEngineKey } of await listProfiles(tx)) {
      const change = {
        sealedKey: sealedKey === null ? null : again(sealedKey, ownKeyOwner(catalogId)),
        sealedEngineKey: sealedEngineKey === null ? null : again(sealedEngineKey, engineKeyOwner(catalogId)),
      };
      if (change.sealedKey !== sealedKey || change.sealedEngineKey !== sealedEngineKey) {
        await updateProfile(tx, catalogId, change);
      }
    }
    for (const { id, secret_sealed: sealed } of await sealedWebhookSecrets(tx)) {
      const change = again(sealed, webhookSecretOwner(id));
      if (change !== sealed) await replaceSealedSecret(tx, id, change);
    }
    for (const { principal_id: id, secret_sealed: sealed } of await sealedAuthenticators(tx)) {
      const change = again(sealed, authenticatorOwner(id));
      if (change !== sealed) await replaceAuthenticatorSecret(tx, id, change);
    }
    for (const { id, sealed } of await sealedProviderSecrets(tx)) {
      const change = again(sealed, providerSecretOwner(id));
      if (change !== sealed) await replaceProviderSecret(tx, id, change);
    }
    await endEnrolments(tx);
  });
  return { resealed };
}

function requireKeys(ids: readonly string[], { current, accepted }: ResealSecretsRequest): void {
  const problem =
    current !== '' && ids[0] !== current
      ? 'encrypts with another key'
      : accepted !== '' && !ids.includes(accepted)
        ? 'does not have the new key'
        : undefined;
  if (problem !== undefined) throw new SkeinError('INVALID_CONFIGURATION', `the catalog ${problem}`);
}
