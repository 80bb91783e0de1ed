import { LRUCache } from 'lru-cache';
import type { Principal } from '#shared/authorization/principal.ts';
import { SkeinError } from '#shared/error.ts';
import { isUuid, type PrincipalId } from '#shared/id.ts';
import { memoryUses } from '#shared/memory-uses.ts';
import { findTenantOf } from '../store/postgres/principal-store.ts';
import type { Database } from '../store/postgres/tables.ts';
import type { EndedSignIns } from './ended-sign-ins.ts';
import type { SessionEpochs } from './session-epochs.ts';

/** Maximum number of principals whose tenants are kept in memory. */
const PRINCIPALS_MAX = 10_000;

/** Checks that the principals of internal calls exist, in the tenant that the call names, and that their tokens are not revoked. */
export class KnownPrincipals {
  readonly #db: Database;
  readonly #epochs: Pick<SessionEpochs, 'of'>;
  readonly #ended: Pick<EndedSignIns, 'has'>;
  /** A principal never changes its tenant; the epoch of one that was deleted is above all others. */
  readonly #tenants = new LRUCache<PrincipalId, string>({ max: PRINCIPALS_MAX });
  readonly #uses = memoryUses('principal_tenants');

  constructor(db: Database, epochs: Pick<SessionEpochs, 'of'>, ended: Pick<EndedSignIns, 'has'>) {
    this.#db = db;
    this.#epochs = epochs;
    this.#ended = ended;
  }

  /** @throws UNAUTHENTICATED */
  async require({ sub, tenant, sess_epoch: epoch, sid }: Principal): Promise<void> {
    if (!(epoch >= this.#epochs.of(sub)) || (sid !== undefined && this.#ended.has(sid)))
      throw new SkeinError('UNAUTHENTICATED', 'the token has been revoked');
    if ((await this.#tenantOf(sub)) !== tenant) {
      throw new SkeinError('UNAUTHENTICATED', 'there is no such principal in the tenant');
    }
  }

  async #tenantOf(id: PrincipalId): Promise<string | undefined> {
    const known = this.#uses.of(this.#tenants.get(id));
    if (known !== undefined || !isUuid(id)) return known;
    const found = await findTenantOf(this.#db, id);
    if (found !== undefined) this.#tenants.set(id, found);
    return found;
  }
}
