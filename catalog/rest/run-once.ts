import { SkeinError } from '#shared/error.ts';
import { printJson } from '#shared/json.ts';
import type { CatalogContext } from '../context.ts';
import { toCatalogError } from '../store/postgres/errors.ts';
import {
  findUse,
  insertUse,
  keepAnswer,
  type KeptAnswer,
  type KeyUse,
  type UsedKey,
} from '../store/postgres/idempotency-store.ts';
import { isoDuration } from './idempotency-key.ts';
import type { Answer } from './rest-operation.ts';
import { requireTerm } from '../store/postgres/coordinator-term.ts';
import { transact, type UnitOfWork } from '../store/postgres/transact.ts';

/**
 * Runs requests with an `Idempotency-Key`. The key's row is written in the transaction that makes the change, so both happen or neither; a
 * concurrent duplicate waits for that transaction. A request that finds the row gets the first answer. Kept are 2xx and those 4xx that a
 * retry would get again; never a 5xx, so that the client may retry.
 */

/** Maximum size of a kept answer; a larger one, and one with a secret, is rendered anew from the current state. */
const KEPT_BYTES_MAX = 64 * 1024;

/** A call that happens at most once under its key. */
export type KeyedCall = {
  readonly use: KeyUse;
  /** Equal when the same call comes again. */
  readonly requestHash: Buffer;
  /** When the key may be forgotten. */
  readonly expiresAt: Date;
  /** Makes the change, in transactions of the unit. */
  readonly run: (unit: UnitOfWork) => Promise<Answer>;
  /** Renders the answer of an earlier successful call anew, when the first answer was not kept. */
  readonly replay: () => Promise<Answer>;
  /** The term of the coordinator that asks, which must go on when the change is committed; absent = no coordinator asks. */
  readonly term?: string;
  /** Prints an error as an answer, which is kept when it would come again. */
  readonly printError: (error: SkeinError) => Answer;
};

/** Aborts a request whose key a concurrent request has used. */
class KeyTaken extends Error {}

/**
 * Runs a call at most once per key. @throws KEY_REUSED, QUEUE_FULL when the principal has too many keys in use, NOT_ACTIVE when the term of
 * the call is over, and the errors of the call that may be retried
 */
export async function runOnce(context: CatalogContext, call: KeyedCall): Promise<Answer> {
  const { use, requestHash, expiresAt, term = '0' } = call;
  const row = { requestHash, now: new Date(context.clock.nowMs()), expiresAt };
  const { db } = context.store;
  const replayed = async (): Promise<Answer> => {
    const used = (await findUse(db, use, row.now)) ?? gone();
    // The process that made the change may have died before coordinators knew of it, and this answer acknowledges it.
    await context.store.settle();
    return replay(call, used);
  };
  if (!(await context.keyAllowance.take(use.principal))) {
    // A request that was answered before is answered again.
    if ((await findUse(db, use, row.now)) === undefined) throw tooManyKeys(context);
    return replayed();
  }
  // The key is not looked up first: it is nearly always new, and the change finds a used key before it changes anything.
  const state = { claimed: false, kept: false };
  const unit: UnitOfWork = {
    transact: async (work, answerOf) => {
      const result = await transact(db, async (tx) => {
        if (!state.claimed && !(await insertUse(tx, use, { ...row, ...NOT_KEPT }))) throw new KeyTaken();
        const done = await work(tx);
        if (answerOf !== undefined) await keepAnswer(tx, use, { status: 200, etag: null, body: answerOf(done) });
        await requireTerm(tx, db, term);
        return done;
      });
      state.claimed = true;
      state.kept = answerOf !== undefined;
      return result;
    },
  };
  const answer = await attempt(call, unit);
  if (answer === 'key taken') return replayed();
  const kept = keptOf(answer);
  if (state.kept) return answer;
  if (state.claimed) {
    // The change is committed: failing to keep its answer does not fail the request.
    await transact(db, (tx) => keepAnswer(tx, use, kept)).catch((err: unknown) =>
      context.log.warn({ err }, 'an answer was not kept'),
    );
  } else if (!(await transact(db, (tx) => insertUse(tx, use, { ...row, ...kept })))) {
    // A concurrent request used the key first, and may have caused the failure here.
    return replayed();
  }
  return answer;
}

const NOT_KEPT: KeptAnswer = { status: null, etag: null, body: null };

async function attempt({ run, printError }: KeyedCall, unit: UnitOfWork): Promise<Answer | 'key taken'> {
  try {
    return await run(unit);
  } catch (thrown) {
    if (thrown instanceof KeyTaken) return 'key taken';
    const error = toCatalogError(thrown);
    const answer = printError(error);
    if (!comesAgain(error, answer)) throw thrown;
    return answer;
  }
}

/** Whether a retry would fail in the same way: not so for a missing permission, exhausted resources or a failing server. */
const comesAgain = (error: SkeinError, { status }: Answer): boolean => error.entry.kind === 'user' && status < 500;

function keptOf(answer: Answer): KeptAnswer {
  const text = answer.text ?? (answer.body === undefined ? null : printJson(answer.body));
  const kept = answer.isSecret !== true && (text === null || Buffer.byteLength(text) <= KEPT_BYTES_MAX);
  return kept ? { status: answer.status, etag: answer.headers?.['etag'] ?? null, body: text } : NOT_KEPT;
}

function replay(call: KeyedCall, used: UsedKey): Promise<Answer> | Answer {
  if (!used.requestHash.equals(call.requestHash)) {
    throw new SkeinError('KEY_REUSED', 'The Idempotency-Key was used before, for another request');
  }
  if (used.status === null) return call.replay();
  return {
    status: used.status,
    ...(used.body === null ? {} : { text: used.body }),
    ...(used.etag === null ? {} : { headers: { etag: used.etag } }),
  };
}

function tooManyKeys({ config }: CatalogContext): SkeinError {
  const keysMax = config['catalog.idempotency_keys_per_principal_max'];
  const within = isoDuration(config['catalog.idempotency_lifetime']);
  return new SkeinError('QUEUE_FULL', `too many Idempotency-Keys are in use: at most ${keysMax} within ${within}`);
}

/** Throws when the key's row vanished between two reads: it has just expired. */
function gone(): never {
  throw new SkeinError('CATALOG_UNAVAILABLE', 'the Idempotency-Key expired while the request ran');
}
