import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import { must, unreachable } from '#shared/must.ts';
import type { RequestOf } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { PASSWORD, statementRunner, type StatementRunner } from '#test/support/run-statements.ts';
import { fixedSeed } from '#test/support/seed.ts';
import { patience } from '#test/support/run/slowness.ts';

/**
 * Random statements of an administrator, and time that passes, on a real catalog and on a model of a few lines that was written from the
 * service specification: after each step both say the same of every user, and after the last one so does the audit log.
 */
const STEPS = 120;
const DAY_MS = 86_400_000;
const ARCHIVE_DAYS = 30;
const INVITED_DAYS = 7;
const NAMES = ['mo', 'mia', 'max'] as const;
const PRIVILEGES = ['MANAGE USERS', 'MANAGE PATS'] as const;

let catalog: TestCatalog;
let user: StatementRunner;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };
beforeAll(async () => {
  catalog = await startTestCatalog({ 'catalog.background_interval': 100 }, clock);
  user = statementRunner(catalog);
});
afterAll(() => catalog[Symbol.asyncDispose]());

type Modelled = {
  status: 'ACTIVE' | 'INVITED' | 'SUSPENDED' | 'DEACTIVATED';
  held: boolean;
  epoch: number;
  droppedAtMs: number;
  invitation: { readonly token: string; readonly untilMs: number } | null;
  readonly privileges: Set<string>;
  readonly tokens: Set<string>;
};
/** `done`, or the code of the refusal. */
type Outcome = string;
type Change = RequestOf<
  | 'alter_user'
  | 'set_user_state'
  | 'set_legal_hold'
  | 'drop_user'
  | 'undrop_user'
  | 'expunge_user'
  | 'grant_privilege'
  | 'create_token'
  | 'drop_token'
>;
type Drawn = Change | RequestOf<'create_user'>;

class Model {
  readonly users = new Map<string, Modelled>();
  /** Events of the audit log, in their order. */
  readonly events: string[] = [];

  /** Applies a statement. @returns its outcome */
  apply(request: Drawn, nowMs: number): Outcome {
    const name = 'name' in request ? request.name : '';
    if (request.kind === 'create_user') {
      if (this.users.has(name)) return 'ALREADY_EXISTS';
      const status = request.password === undefined ? 'INVITED' : 'ACTIVE';
      const empty = { held: false, epoch: 0, droppedAtMs: 0, invitation: null, privileges: new Set<string>() };
      this.users.set(name, { ...empty, status, tokens: new Set() });
      return this.#event('create_user');
    }
    const of =
      request.kind === 'grant_privilege'
        ? request.user
        : request.kind === 'create_token' || request.kind === 'drop_token'
          ? (request.owner ?? '')
          : name;
    const one = this.users.get(of);
    if (one === undefined) return 'PRINCIPAL_NOT_FOUND';
    return this.#change(one, request, nowMs);
  }

  #change(one: Modelled, request: Change, nowMs: number): Outcome {
    const dropped = one.status === 'DEACTIVATED';
    switch (request.kind) {
      case 'alter_user':
        if (dropped) return 'INVALID_STATE';
        return this.#event('alter_user');
      case 'set_user_state':
        if (one.status !== (request.to === 'SUSPEND' ? 'ACTIVE' : 'SUSPENDED')) return 'INVALID_STATE';
        one.status = request.to === 'SUSPEND' ? 'SUSPENDED' : 'ACTIVE';
        if (request.to === 'SUSPEND') one.epoch += 1;
        return this.#event(request.to === 'SUSPEND' ? 'suspend_user' : 'unsuspend_user');
      case 'set_legal_hold':
        one.held = request.reason !== null;
        return this.#event(one.held ? 'set_legal_hold' : 'clear_legal_hold');
      case 'drop_user':
        one.epoch += 1;
        one.privileges.clear();
        one.tokens.clear();
        one.invitation = null;
        if (!dropped) one.droppedAtMs = nowMs;
        one.status = 'DEACTIVATED';
        return this.#event('drop_user');
      case 'undrop_user':
        if (!dropped) return 'INVALID_STATE';
        one.status = 'ACTIVE';
        return this.#event('undrop_user');
      case 'expunge_user':
        if (!dropped) return 'INVALID_STATE';
        if (one.held) return 'LegalHoldActive';
        this.users.delete(request.name);
        return this.#event('expunge_user');
      case 'grant_privilege':
        if (dropped && !request.isRevoke) return 'INVALID_STATE';
        one.epoch += 1;
        if (request.isRevoke) one.privileges.delete(request.privilege);
        else one.privileges.add(request.privilege);
        return this.#event(request.isRevoke ? 'revoke_privilege' : 'grant_privilege');
      case 'create_token':
        if (one.status !== 'ACTIVE') return 'INVALID_STATE';
        if (one.tokens.has(request.name)) return 'ALREADY_EXISTS';
        one.tokens.add(request.name);
        return this.#event('create_pat');
      case 'drop_token':
        if (!one.tokens.delete(request.name)) return 'TOKEN_NOT_FOUND';
        one.epoch += 1;
        return this.#event('drop_pat');
      default:
        return unreachable(request);
    }
  }

  redeem(token: string, nowMs: number): Outcome {
    const one = [...this.users.values()].find(({ invitation }) => invitation?.token === token);
    if (one?.status !== 'INVITED' || (one.invitation?.untilMs ?? 0) <= nowMs) return 'InvalidInvitation';
    one.status = 'ACTIVE';
    one.invitation = null;
    one.epoch += 1;
    return this.#event('redeem_invitation');
  }

  /** Time has passed: the sweeper takes who was dropped long ago. */
  sweep(nowMs: number): void {
    for (const [name, { status, held, droppedAtMs }] of this.users) {
      if (status !== 'DEACTIVATED' || held || droppedAtMs > nowMs - ARCHIVE_DAYS * DAY_MS) continue;
      this.users.delete(name);
      this.#event('archive_user');
    }
  }

  #event(event: string): 'done' {
    this.events.push(event);
    return 'done';
  }
}

/** A statement about one of the users, drawn by a number from 0 to 1. */
function drawn(random: () => number): Drawn | 'redeem' | 'pass time' {
  const pick = <T>(all: readonly T[]): T => must(all[Math.floor(random() * all.length)], 'one of them');
  const name = pick(NAMES);
  const flag = random() < 0.5;
  return pick<() => Drawn | 'redeem' | 'pass time'>([
    () => ({ kind: 'create_user', name, ifNotExists: false, email: `${name}@example.org`, password: PASSWORD }),
    () => ({ kind: 'create_user', name, ifNotExists: false, email: `${name}@example.org` }),
    () => ({ kind: 'alter_user', name, comment: 'x' }),
    () => ({ kind: 'set_user_state', name, to: flag ? 'SUSPEND' : 'UNSUSPEND' }),
    () => ({ kind: 'set_legal_hold', name, reason: random() < 0.3 ? 'held' : null }),
    () => ({ kind: 'drop_user', name, ifExists: false, cascade: flag }),
    () => ({ kind: 'undrop_user', name }),
    () => ({ kind: 'expunge_user', name, reason: 'r' }),
    () => ({ kind: 'grant_privilege', privilege: pick(PRIVILEGES), user: name, isRevoke: flag }),
    () => ({ kind: 'create_token', name: flag ? 't1' : 't2', owner: name }),
    () => ({ kind: 'drop_token', name: flag ? 't1' : 't2', owner: name, ifExists: false }),
    () => 'redeem',
    () => 'pass time',
  ])();
}

async function seenUsers(): Promise<unknown> {
  const rows = await user.table('admin', { kind: 'show_users', like: 'm%', status: null, after: null, limit: 10 });
  const seen: Record<string, unknown> = {};
  for (const { username } of rows) {
    const name = must(username, 'a name');
    const [one] = await user.table('admin', { kind: 'describe_user', name });
    const tokens = await user.table('admin', { kind: 'show_tokens', owner: name });
    seen[name] = {
      status: one?.['status'],
      held: one?.['legal_hold'],
      epoch: one?.['session_epoch'],
      privileges: one?.['privileges'],
      tokens: tokens.map((token) => token['name']),
    };
  }
  return seen;
}
const modelled = (model: Model): unknown =>
  Object.fromEntries(
    [...model.users].map(([name, { status, held, epoch, privileges, tokens }]) => [
      name,
      {
        status,
        held: String(held),
        epoch: String(epoch),
        privileges: [...privileges].toSorted((a, b) => a.localeCompare(b)).join(', '),
        tokens: [...tokens].toSorted((a, b) => a.localeCompare(b)),
      },
    ]),
  );

test('random statements, sweeps and epochs: the catalog and the model say the same', { timeout: 240_000 }, async () => {
  const random = generator(fixedSeed());
  const model = new Model();
  const invitations: string[] = [];
  const counts = new Map<string, number>();
  for (let step = 0; step < STEPS; step += 1) {
    const request = drawn(random);
    if (request === 'pass time') {
      passedMs += Math.floor(random() * 20) * DAY_MS;
      model.sweep(clock.nowMs());
      await expect.poll(seenUsers, { timeout: patience(15_000) }).toEqual(modelled(model));
      continue;
    }
    if (request === 'redeem') {
      const token = invitations.at(-1) ?? 'skein_inv_none';
      const outcome = await user.refusal('admin', { kind: 'redeem_invitation', token, password: PASSWORD });
      expect([step, 'redeem', outcome]).toEqual([step, 'redeem', model.redeem(token, clock.nowMs())]);
      continue;
    }
    const nowMs = clock.nowMs();
    const wanted = model.apply(request, nowMs);
    const [outcome, token] = await user.table('admin', request).then(
      ([row]) => ['done', row?.['invitation_token'] ?? null] as const,
      (error: unknown) => [(error as { readonly code: string }).code, null] as const,
    );
    expect([step, request, outcome]).toEqual([step, request, wanted]);
    counts.set(outcome, (counts.get(outcome) ?? 0) + 1);
    if (token !== null && request.kind === 'create_user') {
      invitations.push(token);
      must(model.users.get(request.name), 'it is there').invitation = { token, untilMs: nowMs + INVITED_DAYS * DAY_MS };
    }
    expect([step, await seenUsers()]).toEqual([step, modelled(model)]);
  }
  const logged = await catalog.sql(
    `select event_type from catalog.user_audit_log where event_type not in ('mint_token') order by created_at, id`,
  );
  expect(logged.map((row) => Object.values(row)[0] as unknown)).toEqual(model.events);
  expect(counts.get('done') ?? 0).toBeGreaterThan(STEPS / 10);
});

/** Mulberry32: numbers from 0 to 1. */
function generator(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d_2b_79_f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
