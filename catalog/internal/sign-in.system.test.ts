import { decodeJwt } from 'jose';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Clock } from '#shared/clock.ts';
import { startTestCatalog, type TestCatalog } from '#test/support/catalog.ts';
import { cheapen } from '#test/support/cheap-password.ts';

const PASSWORD = 'the password of the first user';
let catalog: TestCatalog;
let passedMs = 0;
const clock: Clock = { nowMs: () => Date.now(), monotonicMs: () => performance.now() + passedMs };
let addresses = 0;
/** An address from which nobody has failed yet. */
const newAddress = (): string => `127.0.${Math.floor((addresses += 1) / 250)}.${addresses % 250}`;

beforeAll(async () => {
  catalog = await startTestCatalog({ 'admin.password': PASSWORD, 'principal.lock_after': 1_000 }, clock);
  await cheapen(catalog, PASSWORD, 'admin');
  await catalog.call('CreateTenant', { name: 'other', admin_user: 'ann', admin_password: 'the password of ann' });
});
afterAll(() => catalog[Symbol.asyncDispose]());

type Shown = { readonly user: string; readonly password: string; readonly tenant?: string; readonly address?: string };
const signIn = async (shown: Shown): Promise<string> =>
  (await catalog.call<{ token: string }>('SignIn', { tenant: '', address: newAddress(), ...shown })).token;
/** Code and text of a refusal. */
const refusal = async (shown: Shown): Promise<[string, string]> => {
  const error = await signIn(shown).then(
    () => undefined,
    (thrown: unknown) => thrown as { readonly code: string; readonly message: string },
  );
  return [error?.code ?? 'none', error?.message ?? ''];
};
const newClient = (name: string): Promise<{ client_id: string; client_secret: string }> =>
  catalog.call('CreateClient', { tenant: 'default', name, scope: ['table:read'] });

describe('who is taken', () => {
  test('the administrator of the first start, in the first tenant unless another is named', async () => {
    const token = await signIn({ user: 'admin', password: PASSWORD });
    expect(decodeJwt(token)).toMatchObject({
      preferred_username: 'admin',
      tenant: 'default',
      auth_method: 'password',
      roles: ['tenant_admin'],
    });
    expect((await catalog.rest('GET', '/v1/catalogs', { token })).status).toBe(200);
    // The administrator of another tenant is found there, and has to show more than a password.
    const [code] = await refusal({ user: 'ann', password: 'the password of ann', tenant: 'other' });
    expect(code).toBe('FACTOR_REQUIRED');
  });

  test('a person’s token says which sign-in it stems from, when it was and what was shown', async () => {
    const [one, two] = [
      await signIn({ user: 'admin', password: PASSWORD }),
      await signIn({ user: 'admin', password: PASSWORD }),
    ];
    const claims = decodeJwt(one);
    expect(claims).toMatchObject({ amr: ['pwd'], auth_time: claims.iat });
    expect(claims['sid']).toMatch(/^[0-9a-f-]{36}$/);
    expect(decodeJwt(two)['sid']).not.toBe(claims['sid']);
    const { client_id: user, client_secret: password } = await newClient('machine');
    const machine = decodeJwt(await signIn({ user, password }));
    for (const claim of ['sid', 'amr', 'auth_time']) expect(machine).not.toHaveProperty(claim);
  });

  test('a service account by id and secret of its client, with the scopes of it', async () => {
    const { client_id: user, client_secret: password } = await newClient('etl');
    for (const tenant of ['', 'default']) {
      expect(decodeJwt(await signIn({ user, password, tenant }))).toMatchObject({
        preferred_username: 'etl',
        auth_method: 'client',
        scope: 'table:read',
      });
    }
    expect((await refusal({ user, password, tenant: 'other' }))[0]).toBe('WRONG_PASSWORD');
  });
});

async function counted(): Promise<number> {
  const [row] = await catalog.sql(`select (select coalesce(sum(failures), 0) from catalog.unknown_sign_in)
    + (select coalesce(sum(login_failures), 0) from catalog.principal_sign_in)`);
  return Number(Object.values(row ?? {})[0]);
}

describe('who is refused', () => {
  test('wrong password, unknown user, account without password and user who is not active get one answer', async () => {
    await newClient('without_password');
    await catalog.sql(`insert into catalog.principal (tenant_id, username, password_hash, roles, status, is_bootstrap_principal)
      select tenant_id, 'suspended', password_hash, roles, 'SUSPENDED', false from catalog.principal where username = 'admin'`);
    const refusals = [
      { user: 'admin', password: 'wrong' },
      { user: 'admin', password: '' },
      { user: 'admin', password: 'x'.repeat(2_000) },
      { user: 'nobody', password: PASSWORD },
      { user: 'nobody\0', password: PASSWORD },
      { user: 'ann', password: 'the password of ann' },
      { user: 'admin', password: PASSWORD, tenant: 'no such tenant' },
      { user: 'without_password', password: 'wrong' },
      { user: 'suspended', password: PASSWORD },
      { user: 'admin', password: 'skein_cs_wrong' },
    ];
    const before = await counted();
    for (const shown of refusals) {
      expect([shown, await refusal(shown)]).toEqual([shown, ['WRONG_PASSWORD', 'the user or the password is wrong']]);
    }
    // One write for each refused password, so that its time is the same: nine here, the tenth shows a client's secret.
    expect((await counted()) - before).toBe(9);
  });

  test('after ten failures that user from that address is refused for a minute, with another text and unhashed', async () => {
    const address = newAddress();
    for (let i = 0; i < 10; i += 1) {
      expect((await refusal({ user: 'admin', password: 'wrong', address }))[0]).toBe('WRONG_PASSWORD');
    }
    const right = { user: 'admin', password: PASSWORD };
    expect(await refusal({ ...right, address })).toEqual([
      'TOO_MANY_SIGN_INS',
      'too many sign-ins have failed: try again in a minute',
    ]);
    await signIn(right);
    const { client_id: user, client_secret: password } = await newClient('beside');
    await signIn({ user, password, address });
    passedMs += 60_001;
    await signIn({ ...right, address });
  });

  test('after a hundred failures an address is refused for a minute, whoever comes', async () => {
    const address = newAddress();
    for (let i = 0; i < 100; i += 1) {
      const user = `client_${i % 12}`;
      expect((await refusal({ user, password: 'skein_cs_wrong', address }))[0]).toBe('WRONG_PASSWORD');
    }
    expect((await refusal({ user: 'admin', password: PASSWORD, address }))[0]).toBe('TOO_MANY_SIGN_INS');
    passedMs += 60_001;
    await signIn({ user: 'admin', password: PASSWORD, address });
  });

  test('an address that has failed for 20 accounts is refused for ten minutes, also with the right password', async () => {
    const address = newAddress();
    for (let i = 0; i < 20; i += 1) {
      expect((await refusal({ user: `client_${i}`, password: 'skein_cs_wrong', address }))[0]).toBe('WRONG_PASSWORD');
    }
    const admin = { user: 'admin', password: PASSWORD };
    expect((await refusal({ ...admin, address }))[0]).toBe('TOO_MANY_SIGN_INS');
    passedMs += 540_000;
    expect((await refusal({ ...admin, address }))[0]).toBe('TOO_MANY_SIGN_INS');
    await signIn({ ...admin, address: newAddress() });
    passedMs += 60_001;
    await signIn({ ...admin, address });
  });
});

test('outcomes are counted', async () => {
  const { body } = await catalog.rest('GET', '/metrics');
  const text = body['text'] as string;
  for (const labels of [
    'method="password",outcome="granted"',
    'method="client",outcome="refused"',
    'method="password",outcome="throttled"',
  ]) {
    expect(text).toMatch(new RegExp(`skein_catalog_sign_ins_total\\{${labels}\\} [1-9]`));
  }
});
