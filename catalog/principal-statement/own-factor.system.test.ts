import { randomUUID } from 'node:crypto';
import { generateSync } from 'otplib';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import type { PrincipalAnswer, PrincipalRequest } from '#shared/principal/principal-request.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';

const PASSWORD = 'Correct-Horse-9';
let catalog: TestCatalog;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now() + passedMs, monotonicMs: () => performance.now() + passedMs };

beforeAll(async () => {
  catalog = await startTestCatalog({}, clock);
});
afterAll(() => catalog[Symbol.asyncDispose]());

/** The claims of a sign-in: by password now, unless another is given. */
type Shown = { readonly method?: string; readonly amr?: readonly string[]; readonly secondsAgo?: number };
const BY_BOTH = { amr: ['pwd', 'otp', 'mfa'] } as const;

async function run(user: string, statement: PrincipalRequest, shown: Shown = {}): Promise<PrincipalAnswer> {
  const { method = 'password', amr = ['pwd'], secondsAgo = 0 } = shown;
  const at = Math.floor(clock.nowMs() / 1_000) - secondsAgo;
  const { answer } = await catalog.call<{ answer: Buffer }>('RunPrincipalStatement', {
    principal: {
      ...catalog.principal(await catalog.mint({ user })),
      auth_method: method,
      auth_time: String(at),
      sid: randomUUID(),
      amr: [...amr],
    },
    statement: Buffer.from(JSON.stringify(statement)),
  });
  return JSON.parse(answer.toString()) as PrincipalAnswer;
}
const refusal = (user: string, statement: PrincipalRequest, shown: Shown = {}): Promise<string> =>
  run(user, statement, shown).then(
    () => 'none',
    (error: unknown) => (error as { readonly code: string }).code,
  );
const create = (name: string): Promise<PrincipalAnswer> =>
  run('admin', { kind: 'create_user', name, ifNotExists: false, email: `${name}@example.org`, password: PASSWORD });
const epochOf = async (name: string): Promise<number> => {
  const [row] = await catalog.sql(`select session_epoch from catalog.principal where username = '${name}'`);
  return (row as { readonly session_epoch: number }).session_epoch;
};
const mfaOf = async (name: string): Promise<string | null | undefined> => {
  const { columns, rows } = await run('admin', { kind: 'describe_user', name });
  return rows[0]?.[columns.indexOf('mfa')];
};
const codeOf = (secret: string): string => generateSync({ secret, epoch: Math.floor(clock.nowMs() / 1_000) });
const ENROLL = { kind: 'enroll_mfa' } as const;

/** Enrols and verifies. @returns the secret */
async function enrolled(name: string): Promise<string> {
  await create(name);
  const { rows } = await run(name, ENROLL);
  const secret = rows[0]?.[0] ?? '';
  await run(name, { kind: 'verify_mfa', code: codeOf(secret) });
  passedMs += 120_000;
  return secret;
}

test('ENROLL shows a secret and its address, and VERIFY with a current code switches it on', async () => {
  await create('ann');
  const before = await epochOf('ann');
  const { columns, rows } = await run('ann', ENROLL);
  const [secret = '', uri] = rows[0] ?? [];
  expect([columns, rows.length]).toEqual([['secret', 'otpauth_uri'], 1]);
  expect(uri).toBe(`otpauth://totp/Skein%20default:ann?secret=${secret}&issuer=Skein%20default`);
  // Its token stays good, so that it can verify; nothing counts yet.
  expect([await epochOf('ann'), await mfaOf('ann')]).toEqual([before, null]);
  expect(await refusal('ann', { kind: 'verify_mfa', code: '000000' })).toBe('WRONG_PASSWORD');
  await run('ann', { kind: 'verify_mfa', code: codeOf(secret ?? '') });
  expect([await epochOf('ann'), await mfaOf('ann')]).toEqual([before + 1, 'totp']);
  expect(await refusal('ann', ENROLL, BY_BOTH)).toBe('ALREADY_EXISTS');
  // Enrolling from SQL makes no recovery codes.
  expect(await catalog.sql('select 1 from catalog.recovery_code')).toEqual([]);
});

test('an enrolment ends with the next one and after ten minutes', async () => {
  await create('ben');
  const first = (await run('ben', ENROLL)).rows[0]?.[0] ?? '';
  const second = (await run('ben', ENROLL)).rows[0]?.[0] ?? '';
  expect(await refusal('ben', { kind: 'verify_mfa', code: codeOf(first) })).toBe('WRONG_PASSWORD');
  passedMs += 600_001;
  expect(await refusal('ben', { kind: 'verify_mfa', code: codeOf(second) })).toBe('WRONG_PASSWORD');
});

test('DISABLE needs a current code, each once, and ends the tokens', async () => {
  const secret = await enrolled('cat');
  const before = await epochOf('cat');
  expect(await refusal('cat', { kind: 'disable_mfa', code: '000000' }, BY_BOTH)).toBe('WRONG_PASSWORD');
  await run('cat', { kind: 'disable_mfa', code: codeOf(secret) }, BY_BOTH);
  expect([await epochOf('cat'), await mfaOf('cat')]).toEqual([before + 1, null]);
  expect(await refusal('cat', { kind: 'disable_mfa', code: codeOf(secret) })).toBe('INVALID_STATE');
});

test('DISABLE is refused while the organisation requires a factor of the account', async () => {
  const secret = await enrolled('dan');
  const before = await epochOf('dan');
  await catalog.call('AlterTenant', {
    name: 'default',
    mfa: 'everyone',
    password_min_length: -1,
    password_classes: -1,
    password_history: -1,
  });
  // Those who have one go on, the others begin anew.
  expect(await epochOf('dan')).toBe(before);
  expect(await refusal('dan', { kind: 'disable_mfa', code: codeOf(secret) }, BY_BOTH)).toBe('INVALID_STATE');
  await catalog.sql(`update catalog.tenant set mfa_required = 'administrators'`);
  expect(await refusal('dan', { kind: 'disable_mfa', code: codeOf(secret) }, BY_BOTH)).toBe('none');
});

test('no token changes factors but one of a sign-in by password, and factor, within five minutes', async () => {
  const secret = await enrolled('eve');
  await create('fay');
  for (const method of ['pat', 'keypair', 'operator', 'client']) {
    expect([method, await refusal('fay', ENROLL, { method })]).toEqual([method, 'FORBIDDEN']);
  }
  expect(await refusal('fay', ENROLL, { secondsAgo: 302 })).toBe('FORBIDDEN');
  expect(await refusal('fay', ENROLL, { secondsAgo: 298 })).toBe('none');
  const disable = { kind: 'disable_mfa', code: codeOf(secret) } as const;
  expect(await refusal('eve', disable)).toBe('FORBIDDEN');
  // A recovery code is no factor.
  expect(await refusal('eve', disable, { amr: ['pwd', 'mfa'] })).toBe('FORBIDDEN');
  expect(await refusal('eve', disable, { ...BY_BOTH, secondsAgo: 302 })).toBe('FORBIDDEN');
  expect(await refusal('eve', disable, BY_BOTH)).toBe('none');
});

test('codes count as attempts: after five wrong ones the right one is refused until UNLOCK', async () => {
  const secret = await enrolled('gus');
  for (let i = 0; i < 5; i += 1) {
    expect(await refusal('gus', { kind: 'disable_mfa', code: `00000${i}` }, BY_BOTH)).toBe('WRONG_PASSWORD');
  }
  expect(await refusal('gus', { kind: 'disable_mfa', code: codeOf(secret) }, BY_BOTH)).toBe('WRONG_PASSWORD');
  await run('admin', { kind: 'unlock_user', name: 'gus' });
  expect(await refusal('gus', { kind: 'disable_mfa', code: codeOf(secret) }, BY_BOTH)).toBe('none');
});

test('RESET MFA is for another who may change the user; so is the operator’s, and EXPUNGE takes all', async () => {
  await enrolled('hal');
  await create('ida');
  expect(await refusal('ida', { kind: 'reset_mfa', name: 'hal' })).toBe('FORBIDDEN');
  expect(await refusal('admin', { kind: 'reset_mfa', name: 'admin' })).toBe('FORBIDDEN');
  const before = await epochOf('hal');
  await run('admin', { kind: 'reset_mfa', name: 'hal' });
  expect([await epochOf('hal'), await mfaOf('hal')]).toEqual([before + 1, null]);
  await enrolled('jon');
  const rescue = (what: string, password = ''): Promise<unknown> =>
    catalog.call('RescueUser', { tenant: 'default', user: 'jon', what, password });
  await rescue('reset_mfa');
  expect(await mfaOf('jon')).toBe(null);
  await expect(rescue('set_password', 'short')).rejects.toMatchObject({ code: 'PASSWORD_POLICY' });
  await rescue('set_password', 'Another-Horse-9');
  await rescue('unlock');
  const [row] = await catalog.sql(`select must_change_password as must from catalog.principal where username = 'jon'`);
  expect(row).toEqual({ must: true });
  const events = await catalog.sql(`select event_type as type, actor_id as actor from catalog.user_audit_log
    where target_name = 'jon' order by created_at desc, id desc limit 3`);
  expect(events.map((event) => (event as { readonly type: string }).type)).toEqual([
    'unlock_user',
    'set_password',
    'reset_mfa',
  ]);
  await enrolled('kim');
  await run('admin', { kind: 'drop_user', name: 'kim', ifExists: false, cascade: false });
  await run('admin', { kind: 'expunge_user', name: 'kim', reason: 'gone' });
  const left =
    await catalog.sql(`select 1 from catalog.authenticator a join catalog.principal p on p.id = a.principal_id
    where p.archived_at is not null`);
  expect(left).toEqual([]);
});

test('a GRANT that ends a password ends the factors that were set up with it', async () => {
  await create('users');
  await run('admin', { kind: 'grant_privilege', privilege: 'MANAGE USERS', user: 'users', isRevoke: false });
  await run('users', {
    kind: 'create_user',
    name: 'lea',
    ifNotExists: false,
    email: 'lea@example.org',
    password: PASSWORD,
  });
  const secret = (await run('lea', ENROLL)).rows[0]?.[0] ?? '';
  await run('lea', { kind: 'verify_mfa', code: codeOf(secret) });
  const { columns, rows } = await run('admin', {
    kind: 'grant_role',
    role: 'tenant_admin',
    holder: { kind: 'USER', name: 'lea' },
    isRevoke: false,
  });
  expect(rows[0]?.[columns.indexOf('ended')]).toBe(
    'the authenticator that users has made, the password that users has made',
  );
  expect(await mfaOf('lea')).toBe(null);
});

test('secrets are sealed, and in no row of the audit log', async () => {
  const secret = await enrolled('max');
  for (const table of ['authenticator', 'user_audit_log']) {
    expect(JSON.stringify(await catalog.sql(`select * from catalog.${table}`))).not.toContain(secret);
  }
});
