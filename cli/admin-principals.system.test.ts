import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { decodeJwt } from 'jose';
import { Client } from 'pg';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parseSecrets } from '#shared/keyring.ts';
import { must } from '#shared/must.ts';
import { AdminClients } from '#test/support/admin-clients.ts';
import { PageVisitor } from '#test/support/page-visitor.ts';
import { settingsEnv, startCluster, type StartedCluster } from '#test/support/cluster.ts';
import { createTestDatabase, type TestDatabase } from '#test/support/resources.ts';
import { startWebhookReceiver, type WebhookReceiver } from '#test/support/webhook-receiver.ts';
import { patience } from '#test/support/run/slowness.ts';

/** The operator's commands about principals, as a shell runs them: rules for passwords, the audit log, keys of secrets, clients of accounts. */
let database: TestDatabase;
let receiver: WebhookReceiver;
let cluster: StartedCluster;
let clients: AdminClients;

beforeAll(async () => {
  database = await createTestDatabase();
  receiver = await startWebhookReceiver(['127.0.0.1']);
  const settings = {
    'webhook.interval': '200ms',
    'webhook.ca_file': receiver.caFile,
    'webhook.allowed_networks': '127.0.0.1',
    'cluster.reload_interval': '200ms',
  };
  cluster = await startCluster({ workers: 1, env: { DATABASE_URL: database.url, ...settingsEnv(settings) } });
  clients = new AdminClients(cluster);
});
afterAll(async () => {
  await cluster?.stop();
  await receiver?.[Symbol.asyncDispose]();
  await database?.[Symbol.asyncDispose]();
});

async function runSql(text: string, values: readonly unknown[] = []): Promise<readonly Record<string, unknown>[]> {
  const client = new Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query<Record<string, unknown>>(text, [...values])).rows;
  } finally {
    await client.end();
  }
}

const WRONG = 'The user, the password or the code is wrong.';
/** The heading of the page to which a password leads, or its refusal. */
async function afterPassword(username: string, password: string): Promise<string> {
  const visitor = new PageVisitor(cluster.catalogUrl);
  const { status, text } = await visitor.submit('/sign-in', { username, password });
  if (status === 403) return text.includes(WRONG) ? 'refused' : text;
  const page = await visitor.get('/sign-in');
  return /<h1>(.*?)</.exec(page.text)?.[1] ?? page.headers.get('location') ?? '';
}

describe('skein admin tenant alter', () => {
  test('changes what the next passwords must be, one rule or several at once', async () => {
    const create = (password: string): ReturnType<StartedCluster['query']> =>
      cluster.query(`CREATE USER rules EMAIL 'rules@example.org' PASSWORD '${password}'`);
    const set = async (...flags: readonly string[]): Promise<void> => {
      const said = await cluster.cliOk(['admin', 'tenant', 'alter', 'default', ...flags]);
      expect(JSON.parse(said)).toEqual({ tenant: 'default' });
    };
    await set('--password-min-length', '20');
    expect((await create('Long-Enough-12')).body).toMatchObject({ error: 'PASSWORD_POLICY', sql_state: '22023' });
    await set('--password-min-length', '8', '--password-classes', '1', '--password-history', '1');
    expect((await create('eightone')).body.error).toBeUndefined();
    const alter = (password: string): ReturnType<StartedCluster['query']> =>
      cluster.query(`ALTER USER rules SET PASSWORD = '${password}'`);
    expect((await alter('eightone')).body.error).toBe('PASSWORD_POLICY');
    expect((await alter('eighttwo')).body.error).toBeUndefined();
    // Its history is the current one alone.
    expect((await alter('eightone')).body.error).toBeUndefined();
    await set('--password-min-length', '12', '--password-classes', '3', '--password-history', '5');
  });

  test.each([
    [['default'], 2, 'expected a rule'],
    [['default', '--password-classes', 'many'], 2, '--password-classes'],
    [['default', '--password-classes', '5'], 1, 'password_classes is 1 to 4'],
    [['default', '--password-min-length', '7'], 1, 'password_min_length is 8 to 128'],
    [['nowhere', '--password-classes', '3'], 1, 'nowhere'],
  ])('%j: exit %i', async (args, code, message) => {
    const result = await cluster.cli(['admin', 'tenant', 'alter', ...args]);
    expect([result.code, result.stdout]).toEqual([code, '']);
    expect(result.stderr).toContain(message);
  });
});

describe('skein admin user', () => {
  test('unlock, reset-mfa and set-password help one who cannot sign in, and leave rows of the operator', async () => {
    const password = 'Correct-Horse-9';
    await cluster.sql(`CREATE USER helped EMAIL 'helped@example.org' PASSWORD '${password}'`);
    const of = `from catalog.principal where username = 'helped'`;
    await runSql(
      `insert into catalog.authenticator (principal_id, secret_sealed, used_step, created_at) select id, 'x', 0, now() ${of}`,
    );
    await runSql(`insert into catalog.principal_sign_in (principal_id, login_failures, locked_until)
      select id, 5, now() + interval '1 day' ${of}`);
    const help = async (what: string, input = ''): Promise<void> => {
      const { code, stdout } = await cluster.cli(['admin', 'user', what, 'helped'], {}, input);
      expect([what, code, JSON.parse(stdout)]).toEqual([what, 0, { tenant: 'default', user: 'helped' }]);
    };
    expect(await afterPassword('helped', password)).toBe('refused');
    await help('unlock');
    expect(await afterPassword('helped', password)).toBe('Show your second factor');
    await help('reset-mfa');
    expect(await afterPassword('helped', password)).toBe('/account');
    await help('set-password', 'Battery-Staple-8\n');
    expect(await afterPassword('helped', password)).toBe('refused');
    expect(await afterPassword('helped', 'Battery-Staple-8')).toBe('Choose a new password');
    const rows = await runSql(`select event_type, actor_id from catalog.user_audit_log where target_name = 'helped'
      and event_type in ('unlock_user', 'reset_mfa', 'set_password') order by created_at`);
    expect(rows).toEqual(
      ['unlock_user', 'reset_mfa', 'set_password'].map((type) => ({ event_type: type, actor_id: null })),
    );
    const refused = await cluster.cli(['admin', 'user', 'set-password', 'helped'], {}, 'short\n');
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('fewer than 12 characters')]);
    const nobody = await cluster.cli(['admin', 'user', 'unlock', 'nobody']);
    expect([nobody.code, nobody.stderr]).toEqual([1, expect.stringContaining('nobody')]);
  });
});

describe('skein admin audit export', () => {
  test('prints every row once, the oldest first, as a JSON line each; --since leaves out those before', async () => {
    // More than two pages, of which many rows have the same time.
    await runSql(
      `insert into catalog.user_audit_log (id, tenant_id, event_type, details, created_at)
       select gen_random_uuid(), t.id, 'drop_role', jsonb_build_object('n', i), '2020-02-03T04:05:06Z'::timestamptz + (i / 900) * interval '1 s'
       from catalog.tenant t, generate_series(1, 2500) i where t.name = 'default'`,
    );
    type Line = { readonly created_at: string; readonly event_type: string; readonly details: { readonly n?: number } };
    const lines = (text: string): readonly Line[] =>
      text.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as Line]));
    const all = lines(await cluster.cliOk(['admin', 'audit', 'export']));
    const old = all.filter(({ created_at: at }) => at.startsWith('2020-'));
    expect(new Set(old.map(({ details }) => details.n)).size).toBe(2_500);
    expect(old).toHaveLength(2_500);
    const times = all.map(({ created_at: at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => a.localeCompare(b)));
    const since = await cluster.cliOk(['admin', 'audit', 'export', '--since', '2020-02-04']);
    expect(lines(since)).toEqual(all.slice(2_500));
    const [one] = lines(since);
    expect(Object.keys(must(one, 'a row'))).toEqual([
      'id',
      'created_at',
      'event_type',
      'tenant',
      'tenant_id',
      'actor_id',
      'target_id',
      'target_name',
      'details',
    ]);
    const last = await cluster.sql('SHOW AUDIT LOG LIMIT 1');
    expect(lines(await cluster.cliOk(['admin', 'audit', 'export'])).map((row) => row.event_type)).toContain(
      last[0]?.[4],
    );
  });

  test.each([
    [['--since', 'soon'], 2, '--since'],
    [['--tenant', 'nowhere'], 1, 'nowhere'],
  ])('%j: exit %i', async (args, code, message) => {
    const result = await cluster.cli(['admin', 'audit', 'export', ...args]);
    expect([result.code, result.stdout]).toEqual([code, '']);
    expect(result.stderr).toContain(message);
  });
});

describe('skein admin client create', () => {
  test('takes an account that is there, which keeps its id, its roles, and itself when the client is dropped', async () => {
    await cluster.sql(`CREATE ROLE loads SCOPE 'table:write'`);
    await cluster.sql('CREATE SERVICE ACCOUNT etl DEFAULT_ROLE loads');
    const account = async (): Promise<readonly unknown[] | undefined> =>
      (await cluster.sql('SELECT name, id, roles FROM (SHOW SERVICE ACCOUNTS)')).find(([name]) => name === 'etl');
    const before = must(await account(), 'an account');
    const refused = await cluster.cli(['admin', 'client', 'create', 'etl', '--role', 'analyst']);
    expect([refused.code, refused.stderr]).toEqual([1, expect.stringContaining('GRANT ROLE gives it roles')]);
    const client = await clients.admin('create', 'ETL', '--scope', 'table:read');
    expect(client.client).toBe('ETL');
    const claims = decodeJwt(await clients.tokenOf(client));
    expect([claims.sub, claims['preferred_username'], claims['scope'], claims['roles']]).toEqual([
      before[1],
      'etl',
      'table:read',
      ['loads'],
    ]);
    const again = await cluster.cli(['admin', 'client', 'create', 'etl']);
    expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('already exists')]);
    const rotated = await clients.admin('rotate', 'etl');
    expect(rotated.client_id).toBe(client.client_id);
    await cluster.cliOk(['admin', 'client', 'drop', 'etl']);
    expect(await account()).toEqual(before);
    await cluster.sql('DROP SERVICE ACCOUNT etl');
  });
});

describe('skein admin secrets rotate', () => {
  test('puts a new key first, keeps the one before, and encrypts the keys of webhooks anew; their calls stay signed', async () => {
    const secret = 'a-key-of-the-receiver-9';
    const url = `https://127.0.0.1:${receiver.port}/rotated`;
    await cluster.sql(`CREATE WEBHOOK rotated URL '${url}' SECRET '${secret}' EVENTS ('create_role')`);
    const path = join(cluster.dataDir, 'secrets', 'secrets-key');
    const keys = (): readonly string[] => parseSecrets(readFileSync(path, 'utf8'));
    const sealed = async (): Promise<unknown> => (await runSql('select secret_sealed from catalog.webhook'))[0];
    const [first, stored] = [keys(), await sealed()];
    expect(await cluster.cliOk(['admin', 'secrets', 'rotate'])).toContain('1 secrets are encrypted with a new key');
    const second = keys();
    expect([second.length, second[1]]).toEqual([2, first[0]]);
    expect(second[0]).not.toBe(first[0]);
    expect(await sealed()).not.toEqual(stored);
    await cluster.cliOk(['admin', 'secrets', 'rotate']);
    const third = keys();
    // The first key has gone: nothing needs it.
    expect([third.length, third[1]]).toEqual([2, second[0]]);
    await cluster.sql('CREATE ROLE rotated_role');
    await expect.poll(() => receiver.received.length, { timeout: patience(15_000) }).toBe(1);
    const { headers, body } = must(receiver.received[0], 'a call');
    expect(headers['x-service-signature']).toBe(createHmac('sha256', secret).update(body).digest('hex'));
  });
});

// Last, because it ends the administrator's token, too.
describe('skein admin tenant alter --mfa', () => {
  test('a tenant asks everyone for a second factor, which ends the tokens of those who lack one', async () => {
    await cluster.sql(`CREATE USER asked EMAIL 'asked@example.org' PASSWORD 'Correct-Horse-9'`);
    const epoch = async (): Promise<unknown> =>
      (await runSql(`select session_epoch from catalog.principal where username = 'asked'`))[0]?.['session_epoch'];
    const before = await epoch();
    const alter = (who: string) => cluster.cli(['admin', 'tenant', 'alter', 'default', '--mfa', who]);
    expect(await alter('nobody')).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('administrators or everyone'),
    });
    expect((await alter('everyone')).code).toBe(0);
    expect(await epoch()).toBe(Number(before) + 1);
    expect(await afterPassword('asked', 'Correct-Horse-9')).toBe('Set up a second factor');
    expect((await alter('administrators')).code).toBe(0);
    expect(await afterPassword('asked', 'Correct-Horse-9')).toBe('/account');
  });
});
