import { quoteIdentifier as name, quoteLiteral as literal } from '#shared/sql/quote.ts';
import type { MadeStatement } from '../statement/made-statement.ts';
import { namesIn } from '../statement/name-path.ts';

/** The place of a secret in a statement, which goes as a parameter: it is in no text that is shown, copied or kept. */
const SECRET = '?';

const clauses = (values: Readonly<Record<string, string>>): string =>
  Object.entries(values)
    .filter(([, value]) => value !== '')
    .map(([key, value]) => ` ${key} = ${value}`)
    .join('');
const text = (value: string): string => (value === '' ? '' : literal(value));
const one = (sql: string): MadeStatement => ({ sql });

export type UserFields = {
  readonly email: string;
  readonly displayName: string;
  readonly defaultRole: string;
  readonly comment: string;
};

/** @param password '' = the user is invited */
export const createUser = (user: string, fields: UserFields, password: string, mustChange: boolean): MadeStatement => ({
  sql: `CREATE USER ${name(user)}${clauses({
    EMAIL: text(fields.email),
    PASSWORD: password === '' ? '' : SECRET,
    MUST_CHANGE_PASSWORD: mustChange && password !== '' ? 'TRUE' : '',
    DISPLAY_NAME: text(fields.displayName),
    DEFAULT_ROLE: fields.defaultRole === '' ? '' : name(fields.defaultRole),
    COMMENT: text(fields.comment),
  })}`,
  ...(password === '' ? {} : { secrets: [password] }),
});
export const alterUser = (user: string, fields: UserFields): MadeStatement =>
  one(
    `ALTER USER ${name(user)} SET${clauses({
      EMAIL: text(fields.email),
      DISPLAY_NAME: text(fields.displayName),
      DEFAULT_ROLE: fields.defaultRole === '' ? '' : name(fields.defaultRole),
      COMMENT: text(fields.comment),
    })}`,
  );
export const setPassword = (user: string, password: string): MadeStatement => ({
  sql: `ALTER USER ${name(user)} SET PASSWORD = ${SECRET} MUST_CHANGE_PASSWORD = TRUE`,
  secrets: [password],
});
export type UserState = 'SUSPEND' | 'UNSUSPEND' | 'UNLOCK' | 'RESET MFA' | 'CLEAR LEGAL HOLD';
export const setUserState = (user: string, state: UserState): MadeStatement => one(`ALTER USER ${name(user)} ${state}`);
export const renameUser = (user: string, to: string): MadeStatement =>
  one(`ALTER USER ${name(user)} RENAME TO ${name(to)}`);
export const setLegalHold = (user: string, reason: string): MadeStatement =>
  one(`ALTER USER ${name(user)} SET LEGAL HOLD REASON ${literal(reason)}`);
export const dropUser = (user: string, isCascade: boolean): MadeStatement =>
  one(`DROP USER ${name(user)}${isCascade ? ' CASCADE' : ''}`);
export const undropUser = (user: string): MadeStatement => one(`UNDROP USER ${name(user)}`);
export const expungeUser = (user: string, reason: string): MadeStatement =>
  one(`EXPUNGE USER ${name(user)} REASON ${literal(reason)}`);
export const describeUser = (user: string): MadeStatement => one(`DESCRIBE USER ${name(user)}`);

export type Holder = 'USER' | 'SERVICE ACCOUNT';
export const showGrants = (kind: Holder, holder: string): MadeStatement =>
  one(`SHOW GRANTS TO ${kind} ${name(holder)}`);
export const grantRole = (role: string, kind: Holder, holder: string, isRevoke = false): MadeStatement =>
  one(`${isRevoke ? 'REVOKE' : 'GRANT'} ROLE ${name(role)} ${isRevoke ? 'FROM' : 'TO'} ${kind} ${name(holder)}`);
export const PRIVILEGES = [
  'MANAGE USERS',
  'MANAGE SERVICE ACCOUNTS',
  'MANAGE PATS',
  'MANAGE POLICIES',
  'MANAGE IDENTITY PROVIDERS',
  'BYPASS POLICIES',
] as const;
export const grantPrivilege = (privilege: string, kind: Holder, holder: string, isRevoke = false): MadeStatement =>
  one(`${isRevoke ? 'REVOKE' : 'GRANT'} ${privilege} ${isRevoke ? 'FROM' : 'TO'} ${kind} ${name(holder)}`);

export const createRole = (role: string, scopes: string, comment: string): MadeStatement =>
  one(
    `CREATE ROLE ${name(role)}${scopes === '' ? '' : ` SCOPE ${literal(scopes)}`}${comment === '' ? '' : ` COMMENT ${literal(comment)}`}`,
  );
export const alterRole = (role: string, scopes: string): MadeStatement =>
  one(`ALTER ROLE ${name(role)} SET SCOPE ${literal(scopes)}`);
export const dropRole = (role: string): MadeStatement => one(`DROP ROLE ${name(role)}`);

export const createAccount = (account: string, defaultRole: string, comment: string): MadeStatement =>
  one(
    `CREATE SERVICE ACCOUNT ${name(account)}${clauses({
      DEFAULT_ROLE: defaultRole === '' ? '' : name(defaultRole),
      COMMENT: text(comment),
    })}`,
  );
export const dropAccount = (account: string): MadeStatement => one(`DROP SERVICE ACCOUNT ${name(account)}`);
export const ALGORITHMS = ['ES256', 'ES384', 'RS256', 'PS256', 'EdDSA'] as const;
export const addKeypair = (account: string, keyId: string, pem: string, algorithm: string): MadeStatement =>
  one(
    `ALTER SERVICE ACCOUNT ${name(account)} ADD KEYPAIR KEY_ID ${literal(keyId)} PUBLIC_KEY ${literal(pem)}${algorithm === '' ? '' : ` ALGORITHM ${algorithm}`}`,
  );
export const dropKeypair = (account: string, keyId: string): MadeStatement =>
  one(`ALTER SERVICE ACCOUNT ${name(account)} DROP KEYPAIR KEY_ID ${literal(keyId)}`);
/** Why a pasted key is not taken: a private one has to stay where it was made. */
export const refusedKey = (pem: string): string | undefined => {
  if (/PRIVATE KEY/.test(pem)) return 'This is a private key, which never leaves your machine: paste the public one.';
  return pem === '' || /BEGIN PUBLIC KEY/.test(pem) ? undefined : 'A public key begins with -----BEGIN PUBLIC KEY-----';
};

/** @param owner '' = the reader */
export const createToken = (token: string, owner: string, days: string, scopes: string): MadeStatement =>
  one(
    `CREATE PERSONAL ACCESS TOKEN ${name(token)}${owner === '' ? '' : ` FOR ${name(owner)}`}${days === '' ? '' : ` TTL ${literal(`${days} days`)}`}${scopes === '' ? '' : ` SCOPE ${literal(scopes)}`}`,
  );
export const dropToken = (token: string, owner: string): MadeStatement =>
  one(`DROP PERSONAL ACCESS TOKEN ${name(token)}${owner === '' ? '' : ` FOR ${name(owner)}`}`);

/** @param events words with spaces between them; '' = every event */
export const createWebhook = (webhook: string, url: string, secret: string, events: string): MadeStatement => {
  const listed = events.trim() === '' ? [''] : events.trim().split(/\s+/);
  return {
    sql: `CREATE WEBHOOK ${name(webhook)} URL = ${literal(url)} SECRET = ${SECRET} EVENTS (${listed.map(literal).join(', ')})`,
    secrets: [secret],
  };
};
export const retryWebhook = (webhook: string, event: string): MadeStatement =>
  one(`ALTER WEBHOOK ${name(webhook)} RETRY${event === '' ? '' : ` ${literal(event)}`}`);
export const dropWebhook = (webhook: string): MadeStatement => one(`DROP WEBHOOK ${name(webhook)}`);

export type PolicyKind = 'ROW ACCESS' | 'MASKING';
/** @param parts a path as SQL writes it: parts with dots are in quotes */
const path = (parts: string): string => namesIn(parts, '.').map(name).join('.');
export const showPolicies = (kind: PolicyKind): MadeStatement =>
  one(kind === 'MASKING' ? 'SHOW MASKING POLICIES' : 'SHOW ROW POLICIES');
export const describePolicy = (kind: PolicyKind, policy: string): MadeStatement =>
  one(`DESCRIBE ${kind} POLICY ${path(policy)}`);
export const createPolicy = (
  kind: PolicyKind,
  { policy, args, returns, body }: { policy: string; args: string; returns: string; body: string },
): MadeStatement =>
  one(
    `CREATE ${kind} POLICY ${path(policy)} AS (${args}) RETURNS ${kind === 'MASKING' ? returns : 'BOOLEAN'} -> ${body}`,
  );
export const setPolicyBody = (kind: PolicyKind, policy: string, body: string): MadeStatement =>
  one(`ALTER ${kind} POLICY ${path(policy)} SET BODY -> ${body}`);
export const dropPolicy = (kind: PolicyKind, policy: string): MadeStatement =>
  one(`DROP ${kind} POLICY ${path(policy)}`);
/** @param columns with commas between them; the first is the one that a masking policy masks */
export const bindPolicy = (kind: PolicyKind, policy: string, table: string, columns: string): MadeStatement => {
  const [first = '', ...others] = namesIn(columns, ',').map(name);
  const using = others.length === 0 ? '' : ` USING (${[first, ...others].join(', ')})`;
  return one(
    kind === 'MASKING'
      ? `ALTER TABLE ${path(table)} ALTER COLUMN ${first} SET MASKING POLICY ${path(policy)}${using}`
      : `ALTER TABLE ${path(table)} ADD ROW ACCESS POLICY ${path(policy)} ON (${[first, ...others].join(', ')})`,
  );
};
export const unbindPolicy = (kind: PolicyKind, policy: string, table: string, column: string): MadeStatement =>
  one(
    kind === 'MASKING'
      ? `ALTER TABLE ${path(table)} ALTER COLUMN ${namesIn(column, ',').map(name).join(', ')} UNSET MASKING POLICY`
      : `ALTER TABLE ${path(table)} DROP ROW ACCESS POLICY ${path(policy)}`,
  );
export const policyReferences = (catalog: string): MadeStatement =>
  one(`SELECT * FROM ${name(catalog)}.information_schema.policy_references LIMIT 1000`);
export type PolicyPlace = { readonly catalog: string; readonly schema: string; readonly policy: string };
/** A schema's name is one name, its levels joined by dots. */
export const policyPath = ({ catalog, schema, policy }: PolicyPlace): string =>
  [catalog, schema, policy].map(name).join('.');
/** The tables that a policy is bound to. Those of a masking policy do not tell its schema. */
export const boundTables = (kind: PolicyKind, { catalog, schema, policy }: PolicyPlace): MadeStatement =>
  one(
    `SELECT ref_schema_name, ref_entity_name, ref_column_name FROM ${name(catalog)}.information_schema.policy_references WHERE policy_name = ${literal(policy)} AND policy_kind = ${kind === 'MASKING' ? "'MASKING_POLICY'" : `'ROW_ACCESS_POLICY' AND policy_schema = ${literal(schema)}`} ORDER BY ALL LIMIT 1000`,
  );

export const takeRole = (role: string): MadeStatement => one(`USE ROLE ${name(role)}`);
export const firstRows = (table: string): MadeStatement => one(`SELECT * FROM ${path(table)} LIMIT 100`);
