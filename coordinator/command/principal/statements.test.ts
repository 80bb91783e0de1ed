import { expect, test } from 'vitest';
import { SkeinError } from '#shared/error.ts';
import { parseStatement } from '../../prepare/parse-statement.ts';

const LIMITS = { bytesMax: 1e6, depthMax: 100 };
const parsed = (sql: string): unknown => parseStatement(sql, LIMITS).input;
const refusal = (sql: string): string => {
  try {
    parsed(sql);
    return 'accepted';
  } catch (error) {
    return SkeinError.of(error).code;
  }
};

test.each([
  [
    `CREATE USER ann EMAIL 'a@x' PASSWORD = 'p' MUST_CHANGE_PASSWORD=TRUE DEFAULT_ROLE analyst`,
    { email: 'a@x', password: 'p', mustChangePassword: true, defaultRole: 'analyst', name: 'ann', ifNotExists: false },
  ],
  [
    `create user if not exists "A b" comment = 'c', email='e'`,
    { name: 'A b', ifNotExists: true, comment: 'c', email: 'e' },
  ],
])('%s', (sql, input) => {
  expect(parsed(sql)).toEqual({ kind: 'create_user', ...input });
});

test.each([
  [
    `CREATE IDENTITY PROVIDER IF NOT EXISTS p ISSUER 'https://i' AUDIENCES ('a', 'b') PROVISION users DOMAINS ('x.org') LABEL = 'L' ENABLED`,
    {
      kind: 'create_provider',
      name: 'p',
      ifNotExists: true,
      issuer: 'https://i',
      audiences: ['a', 'b'],
      provision: 'USERS',
      domains: ['x.org'],
      label: 'L',
      enabled: true,
    },
  ],
  ['ALTER IDENTITY PROVIDER p SET ENABLED FALSE', { kind: 'alter_provider', name: 'p', enabled: false }],
  [
    'ALTER IDENTITY PROVIDER p UNSET LABEL, CLIENT_ID',
    { kind: 'alter_provider', name: 'p', label: null, clientId: null },
  ],
  ['DROP IDENTITY PROVIDER IF EXISTS "P q"', { kind: 'drop_provider', name: 'P q', ifExists: true }],
  ['SHOW IDENTITY PROVIDERS', { kind: 'show_providers' }],
  ['DESC IDENTITY PROVIDER p', { kind: 'describe_provider', name: 'p' }],
  [
    `ALTER SERVICE ACCOUNT s SET TRUST OF p WHERE 'sub' = 'x' AND 'ref' LIKE 'refs/*'`,
    {
      kind: 'set_trust',
      account: 's',
      provider: 'p',
      conditions: [
        { claim: 'sub', operator: '=', value: 'x' },
        { claim: 'ref', operator: 'LIKE', value: 'refs/*' },
      ],
    },
  ],
  ['ALTER SERVICE ACCOUNT s UNSET TRUST OF p', { kind: 'drop_trust', account: 's', provider: 'p', ifExists: false }],
  [
    `GRANT ROLE r TO GROUP 'a b' OF p WITH ADMINISTRATION`,
    { kind: 'grant_group_role', role: 'r', group: 'a b', provider: 'p', withAdministration: true, isRevoke: false },
  ],
  [
    `REVOKE ROLE r FROM GROUP g OF p`,
    { kind: 'grant_group_role', role: 'r', group: 'g', provider: 'p', withAdministration: false, isRevoke: true },
  ],
  [`SHOW GRANTS TO GROUP 'g' OF p`, { kind: 'show_group_grants', group: 'g', provider: 'p' }],
  [
    'GRANT MANAGE IDENTITY PROVIDERS TO USER u',
    { kind: 'grant_privilege', privilege: 'MANAGE IDENTITY PROVIDERS', user: 'u', isRevoke: false },
  ],
])('%s', (sql, input) => {
  expect(parsed(sql)).toEqual(input);
});

test.each([
  `CREATE IDENTITY PROVIDER p AUDIENCES ('a')`,
  `CREATE IDENTITY PROVIDER p ISSUER 'x' PROVISION some`,
  `ALTER IDENTITY PROVIDER p SET ISSUER 'x'`,
  'ALTER IDENTITY PROVIDER p SET',
  'ALTER IDENTITY PROVIDER p UNSET AUDIENCES',
  `ALTER SERVICE ACCOUNT s SET TRUST OF p`,
  `ALTER SERVICE ACCOUNT s SET TRUST OF p WHERE 'sub' > 'x'`,
  `ALTER SERVICE ACCOUNT s SET TRUST OF p WHERE 'sub' = 'x' OR 'a' = 'b'`,
])('refused: %s', (sql) => {
  expect(refusal(sql)).toBe('SYNTAX_ERROR');
});

test.each([
  [`ALTER USER a SET PASSWORD = 'p' EMAIL = 'e'`, { kind: 'alter_user', name: 'a', password: 'p', email: 'e' }],
  ['ALTER USER a UNSET COMMENT, DEFAULT_ROLE', { kind: 'alter_user', name: 'a', comment: null, defaultRole: null }],
  ['ALTER USER a SUSPEND', { kind: 'set_user_state', name: 'a', to: 'SUSPEND' }],
  ['ALTER USER a UNSUSPEND', { kind: 'set_user_state', name: 'a', to: 'UNSUSPEND' }],
  ['ALTER USER a UNLOCK', { kind: 'unlock_user', name: 'a' }],
  ['ALTER USER a RENAME TO "b"', { kind: 'rename_user', name: 'a', to: 'b' }],
  [`ALTER USER a SET LEGAL HOLD REASON 'r'`, { kind: 'set_legal_hold', name: 'a', reason: 'r' }],
  ['ALTER USER a CLEAR LEGAL HOLD', { kind: 'set_legal_hold', name: 'a', reason: null }],
  ['ALTER USER SELF ENROLL MFA TOTP', { kind: 'enroll_mfa' }],
  [`ALTER USER SELF VERIFY MFA TOTP '123456'`, { kind: 'verify_mfa', code: '123456' }],
  [`ALTER USER SELF DISABLE MFA WITH TOTP CODE '123456'`, { kind: 'disable_mfa', code: '123456' }],
  ['ALTER USER u RESET MFA', { kind: 'reset_mfa', name: 'u' }],
  [`ALTER USER SELF SET PASSWORD 'n' OLD PASSWORD 'o'`, { kind: 'set_own_password', password: 'n', oldPassword: 'o' }],
  ['DROP USER IF EXISTS a CASCADE', { kind: 'drop_user', name: 'a', ifExists: true, cascade: true }],
  ['DROP USER a RESTRICT', { kind: 'drop_user', name: 'a', ifExists: false, cascade: false }],
  ['UNDROP USER a', { kind: 'undrop_user', name: 'a' }],
  [`EXPUNGE USER a REASON 'r'`, { kind: 'expunge_user', name: 'a', reason: 'r' }],
  [`REDEEM INVITATION 't' WITH PASSWORD 'p'`, { kind: 'redeem_invitation', token: 't', password: 'p' }],
  [
    `SHOW USERS LIKE 'a%' WHERE STATUS = 'ACTIVE'`,
    { kind: 'show_users', like: 'a%', status: 'ACTIVE', after: null, limit: 1_000 },
  ],
  ['DESCRIBE USER a', { kind: 'describe_user', name: 'a' }],
  [
    `CREATE SERVICE ACCOUNT s COMMENT 'c' DEFAULT_ROLE = r`,
    { kind: 'create_account', name: 's', ifNotExists: false, comment: 'c', defaultRole: 'r' },
  ],
  [
    `ALTER SERVICE ACCOUNT s ADD KEYPAIR KEY_ID 'k' PUBLIC_KEY 'pem' ALGORITHM ES384`,
    { kind: 'add_keypair', account: 's', keyId: 'k', publicKey: 'pem', algorithm: 'ES384' },
  ],
  [
    `ALTER SERVICE ACCOUNT s DROP KEYPAIR IF EXISTS KEY_ID 'k'`,
    { kind: 'drop_keypair', account: 's', keyId: 'k', ifExists: true },
  ],
  ['DROP SERVICE ACCOUNT s', { kind: 'drop_account', name: 's', ifExists: false }],
  [
    `CREATE PERSONAL ACCESS TOKEN t FOR u TTL '30 days' SCOPE 'table:read'`,
    { kind: 'create_token', name: 't', owner: 'u', days: 30, scope: 'table:read' },
  ],
  ['DROP PERSONAL ACCESS TOKEN IF EXISTS t', { kind: 'drop_token', name: 't', owner: null, ifExists: true }],
  ['SHOW PERSONAL ACCESS TOKENS FOR u', { kind: 'show_tokens', owner: 'u' }],
  [`CREATE ROLE r SCOPE 'table:read'`, { kind: 'create_role', name: 'r', ifNotExists: false, scope: 'table:read' }],
  [`ALTER ROLE r SET COMMENT 'c'`, { kind: 'alter_role', name: 'r', comment: 'c' }],
  ['GRANT ROLE r TO USER u', { kind: 'grant_role', role: 'r', holder: { kind: 'USER', name: 'u' }, isRevoke: false }],
  [
    'REVOKE ROLE r FROM SERVICE ACCOUNT s',
    { kind: 'grant_role', role: 'r', holder: { kind: 'SERVICE', name: 's' }, isRevoke: true },
  ],
  [
    'GRANT MANAGE SERVICE ACCOUNTS TO USER u',
    { kind: 'grant_privilege', privilege: 'MANAGE SERVICE ACCOUNTS', user: 'u', isRevoke: false },
  ],
  ['SHOW GRANTS TO USER u', { kind: 'show_grants', holder: { kind: 'USER', name: 'u' } }],
  [
    `CREATE WEBHOOK w URL = 'https://x/y' SECRET='0123456789abcdef' EVENTS ('create_', 'drop_user')`,
    {
      kind: 'create_webhook',
      name: 'w',
      ifNotExists: false,
      url: 'https://x/y',
      secret: '0123456789abcdef',
      events: ['create_', 'drop_user'],
    },
  ],
  [
    `CREATE WEBHOOK IF NOT EXISTS "W" EVENTS = ('') SECRET 's' URL 'u'`,
    { kind: 'create_webhook', name: 'W', ifNotExists: true, url: 'u', secret: 's', events: [''] },
  ],
  [
    `CREATE WEBHOOK w URL 'u' SECRET 's'`,
    { kind: 'create_webhook', name: 'w', ifNotExists: false, url: 'u', secret: 's' },
  ],
  ['DROP WEBHOOK IF EXISTS w', { kind: 'drop_webhook', name: 'w', ifExists: true }],
  ['DROP WEBHOOK w', { kind: 'drop_webhook', name: 'w', ifExists: false }],
  ['ALTER WEBHOOK w RETRY', { kind: 'retry_webhook', name: 'w', event: null }],
  [`ALTER WEBHOOK w RETRY 'e'`, { kind: 'retry_webhook', name: 'w', event: 'e' }],
  ['SHOW WEBHOOKS', { kind: 'show_webhooks' }],
  ['SHOW WEBHOOK DELIVERIES', { kind: 'show_webhook_deliveries', webhook: null, after: null, limit: 50 }],
  ['SHOW WEBHOOK DELIVERIES FOR w LIMIT 5', { kind: 'show_webhook_deliveries', webhook: 'w', after: null, limit: 5 }],
  [`SHOW AUDIT LOG LIKE 'drop%' LIMIT 5`, { kind: 'show_audit_log', like: 'drop%', after: null, limit: 5 }],
])('%s', (sql, input) => {
  expect(parsed(sql)).toEqual(input);
});

test.each([
  ['CREATE USER a', 'SYNTAX_ERROR'],
  [`CREATE USER a EMAIL 'x' EMAIL 'y'`, 'SYNTAX_ERROR'],
  [`CREATE USER a EMAIL 'x' IDENTITY_SOURCE 'SCIM'`, 'NOT_SUPPORTED'],
  [`CREATE USER a EMAIL x`, 'SYNTAX_ERROR'],
  ['ALTER USER a SET', 'SYNTAX_ERROR'],
  ['ALTER USER a UNSET EMAIL', 'SYNTAX_ERROR'],
  ['ALTER USER a UNSET COMMENT, COMMENT', 'SYNTAX_ERROR'],
  [`CREATE PERSONAL ACCESS TOKEN t TTL '30'`, 'SYNTAX_ERROR'],
  ['GRANT ROLE r TO ROLE s', 'SYNTAX_ERROR'],
  ['GRANT MANAGE EVERYTHING TO USER u', 'SYNTAX_ERROR'],
  ['GRANT MANAGE USERS FROM USER u', 'SYNTAX_ERROR'],
  ['GRANT SELECT ON t TO USER u', 'NOT_SUPPORTED'],
  ['ALTER USER SELF ENROLL MFA', 'SYNTAX_ERROR'],
  ['ALTER USER SELF VERIFY MFA TOTP 123456', 'SYNTAX_ERROR'],
  ['ALTER USER SELF DISABLE MFA TOTP', 'SYNTAX_ERROR'],
  ['SHOW AUDIT LOG LIMIT 0', 'SYNTAX_ERROR'],
  [`CREATE WEBHOOK w URL 'u' EVENTS ('')`, 'SYNTAX_ERROR'],
  [`CREATE WEBHOOK w SECRET 's' EVENTS ('')`, 'SYNTAX_ERROR'],
  [`CREATE WEBHOOK w URL 'u' SECRET 's' EVENTS ()`, 'SYNTAX_ERROR'],
  [`CREATE WEBHOOK w URL 'u' SECRET 's' EVENTS 'a'`, 'SYNTAX_ERROR'],
  ['ALTER WEBHOOK w', 'SYNTAX_ERROR'],
  ['SHOW WEBHOOK DELIVERIES LIMIT 1000', 'SYNTAX_ERROR'],
])('%s is refused', (sql, code) => {
  expect(refusal(sql)).toBe(code);
});
