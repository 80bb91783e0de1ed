import type { Principal } from '#shared/authorization/principal.ts';
import { scopesOf } from '#shared/authorization/token-claims.ts';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer } from '#shared/principal/principal-request.ts';
import type { MadeType } from '#shared/made-type.ts';
import type { CatalogContext } from '../context.ts';
import { requireTenant } from '../store/postgres/catalog-store.ts';
import { recordEvent, type AuditEvent, type Party } from '../store/postgres/audit-store.ts';
import { findById, findByName, type PrincipalRecord } from '../store/postgres/principal-record-store.ts';
import type { Database, Tx } from '../store/postgres/tables.ts';
import { requireTerm } from '../store/postgres/coordinator-term.ts';
import { lockPrincipalsOf } from '../store/postgres/tenant-store.ts';
import { transact } from '../store/postgres/transact.ts';

/** A statement about principals that somebody runs. */
export type Call = {
  readonly context: Pick<CatalogContext, 'store' | 'clock' | 'config' | 'passwords' | 'sealing' | 'issuers'>;
  /** The caller, by its token. */
  readonly principal: Principal;
  /** The term of the coordinator that runs it; "0" = none does. */
  readonly term: string;
};

/** The caller as the database says now, with the scopes of its token. */
export type Caller = PrincipalRecord & { readonly scopes: ReadonlySet<string> };

/** A statement's view of the database: the tenant, and its caller as the database says now. */
export type Reading = {
  readonly db: Database;
  readonly tenant: { readonly id: string; readonly name: string };
  readonly actor: Caller;
  readonly now: Date;
};

/** The same in the transaction of a change. */
export type Changing = Omit<Reading, 'db'> & {
  readonly tx: Tx;
  /** Writes the row of the audit log, in the transaction of the change. */
  readonly record: (event: Omit<AuditEvent, 'actor'>) => Promise<void>;
};

/** A change that nobody has to run: the catalog by itself may. */
export type Recording = Pick<Changing, 'tx' | 'now' | 'record'>;

export async function reading({ context, principal }: Call, db: Database = context.store.db): Promise<Reading> {
  const [tenantId, actor] = await Promise.all([requireTenant(db, principal.tenant), findById(db, principal.sub)]);
  if (actor === undefined) throw new SkeinError('UNAUTHENTICATED', 'there is no such principal in the tenant');
  // The end of its tokens may not have been told yet, and a change may have waited for the one that has stopped its caller, or given it more
  // than those who have such a token may use.
  const isStopped = actor.status === 'SUSPENDED' || actor.status === 'DEACTIVATED';
  if (isStopped || principal.sess_epoch < actor.sessionEpoch) {
    throw new SkeinError('UNAUTHENTICATED', 'the token has been revoked');
  }
  return {
    db,
    tenant: { id: tenantId, name: principal.tenant },
    actor: { ...actor, scopes: scopesOf(principal) },
    now: new Date(context.clock.nowMs()),
  };
}

/**
 * Runs a change in one transaction. Changes to the principals of one tenant run one after the other: two that each leave the last
 * tenant_admin but one cannot both happen. @throws NOT_ACTIVE when the term of the coordinator is over, and the errors of `work`
 */
export function changing<T>(call: Call, work: (change: Changing) => Promise<T>): Promise<T> {
  return inTransaction(call, work, (tx) => lockPrincipalsOf(tx, { name: call.principal.tenant }));
}

/** Runs a change that is of no principal, and may take long: those to principals do not wait for it. */
export const changingBeside = <T>(call: Call, work: (change: Changing) => Promise<T>): Promise<T> =>
  inTransaction(call, work, () => Promise.resolve());

function inTransaction<T>(
  call: Call,
  work: (change: Changing) => Promise<T>,
  begin: (tx: Tx) => Promise<void>,
): Promise<T> {
  return transact(call.context.store.db, async (tx) => {
    await begin(tx);
    const { tenant, actor, now } = await reading(call, tx);
    const record = (event: Omit<AuditEvent, 'actor'>): Promise<void> =>
      recordEvent(tx, tenant, now, { ...event, actor: partyOf(actor) });
    const result = await work({ tx, tenant, actor, now, record });
    await requireTerm(tx, call.context.store.db, call.term);
    return result;
  });
}

export const partyOf = ({ id, username }: PrincipalRecord): Party => ({ id, name: username });

/** The user of this name. @throws PRINCIPAL_NOT_FOUND */
export const requireUser = (db: Database, tenantId: string, name: string): Promise<PrincipalRecord> =>
  requirePrincipalOf(db, tenantId, { kind: 'USER', name });

/** The service account of this name. @throws PRINCIPAL_NOT_FOUND */
export const requireAccount = (db: Database, tenantId: string, name: string): Promise<PrincipalRecord> =>
  requirePrincipalOf(db, tenantId, { kind: 'SERVICE', name });

type Holder = { readonly kind: 'USER' | 'SERVICE'; readonly name: string };

export async function requirePrincipalOf(
  db: Database,
  tenantId: string,
  { kind, name }: Holder,
): Promise<PrincipalRecord> {
  const found = await findByName(db, tenantId, name);
  if (found?.kind === kind) return found;
  throw new SkeinError('PRINCIPAL_NOT_FOUND', `${kind === 'USER' ? 'user' : 'service account'} ${name} does not exist`);
}

/** The answer of a statement that has nothing to say but that it happened. */
export const done = (status: string): PrincipalAnswer => ({ columns: ['status'], rows: [[status]], next: null });

export const timeText = (time: Date | null): string | null => time?.toISOString() ?? null;

/** The columns of a list, in their order: the type of each, and the text of its value. */
export type ListColumns<Row> = Readonly<Record<string, readonly [type: MadeType, text: (row: Row) => string | null]>>;

export const listAnswer = <Row>(
  columns: ListColumns<Row>,
  rows: readonly Row[],
  next: PrincipalAnswer['next'] = null,
): PrincipalAnswer => ({
  columns: Object.keys(columns),
  types: Object.values(columns).map(([type]) => type),
  rows: rows.map((row) => Object.values(columns).map(([, text]) => text(row))),
  next,
});
