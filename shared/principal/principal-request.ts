import { Type, type Static, type TProperties } from 'typebox';
import { KEY_ALGORITHMS, type KeyAlgorithm } from './key-algorithm.ts';
import type { MadeType } from '#shared/made-type.ts';
import { PRIVILEGES, type Privilege } from './privilege.ts';

/**
 * Statements about users, service accounts, roles, privileges, tokens, keys, webhooks and the audit log, as the coordinator has read them and
 * the catalog runs them. They travel in a call that keeps neither requests nor answers, because both carry secrets.
 */

/** Characters of one value; a pasted key is the longest. */
const TEXT_LENGTH_MAX = 16_384;
/** Entries of a webhook's EVENTS. */
const WEBHOOK_EVENTS_MAX = 100;
/** Audiences of an identity provider, its domains, and conditions of a trust. */
const PROVIDER_LIST_MAX = 20;
/** Rows of one page of a list. */
export const PAGE_ROWS_MAX = 1_000;

const text = Type.String({ maxLength: TEXT_LENGTH_MAX });
const flag = Type.Boolean();
const orNull = <T extends Parameters<typeof Type.Union>[0][number]>(schema: T) => Type.Union([schema, Type.Null()]);
const optional = Type.Optional;
const one = <const K extends string, P extends TProperties>(kind: K, properties: P) =>
  Type.Object({ kind: Type.Literal(kind), ...properties }, { additionalProperties: false });

/** The properties of a user; null unsets one. */
const PROFILE = {
  email: optional(text),
  displayName: optional(orNull(text)),
  defaultRole: optional(orNull(text)),
  defaultWarehouse: optional(orNull(text)),
  mustChangePassword: optional(flag),
  comment: optional(orNull(text)),
};
/** The settings of an identity provider; null unsets one. */
const PROVIDER = {
  clientId: optional(orNull(text)),
  clientSecret: optional(orNull(text)),
  audiences: optional(Type.Array(text, { maxItems: PROVIDER_LIST_MAX })),
  usernameClaim: optional(text),
  emailClaim: optional(text),
  groupsClaim: optional(text),
  provision: optional(Type.Union([Type.Literal('NONE'), Type.Literal('USERS')])),
  domains: optional(Type.Array(text, { maxItems: PROVIDER_LIST_MAX })),
  label: optional(orNull(text)),
  enabled: optional(flag),
};
const condition = Type.Object({
  claim: text,
  operator: Type.Union([Type.Literal('='), Type.Literal('LIKE')]),
  value: text,
});
const PAGE = { after: orNull(text), limit: Type.Integer({ minimum: 1, maximum: PAGE_ROWS_MAX }) };
const holder = Type.Object({ kind: Type.Union([Type.Literal('USER'), Type.Literal('SERVICE')]), name: text });
const privilege = Type.Unsafe<Privilege>({ type: 'string', enum: [...PRIVILEGES] });
/** Lists those alone who have this role, or this privilege. */
const HOLDING = { role: optional(text), privilege: optional(privilege) };
const algorithm = Type.Unsafe<KeyAlgorithm>({ type: 'string', enum: [...KEY_ALGORITHMS] });

export type PrincipalRequest = Static<typeof PrincipalRequest>;
export const PrincipalRequest = Type.Union([
  one('create_user', { name: text, ifNotExists: flag, password: optional(text), ...PROFILE }),
  one('alter_user', { name: text, password: optional(text), ...PROFILE }),
  one('rename_user', { name: text, to: text }),
  one('set_user_state', { name: text, to: Type.Union([Type.Literal('SUSPEND'), Type.Literal('UNSUSPEND')]) }),
  one('unlock_user', { name: text }),
  /** A reason engages the hold, null ends it. */
  one('set_legal_hold', { name: text, reason: orNull(text) }),
  one('set_own_password', { password: text, oldPassword: text }),
  /** An authenticator app of the caller. */
  one('enroll_mfa', {}),
  one('verify_mfa', { code: text }),
  one('disable_mfa', { code: text }),
  one('reset_mfa', { name: text }),
  one('drop_user', { name: text, ifExists: flag, cascade: flag }),
  one('undrop_user', { name: text }),
  one('expunge_user', { name: text, reason: text }),
  one('redeem_invitation', { token: text, password: text }),
  one('show_users', { like: orNull(text), status: orNull(text), search: optional(text), ...HOLDING, ...PAGE }),
  one('describe_user', { name: text }),
  one('create_account', {
    name: text,
    ifNotExists: flag,
    defaultRole: optional(text),
    comment: optional(text),
  }),
  one('drop_account', { name: text, ifExists: flag }),
  one('add_keypair', { account: text, keyId: text, publicKey: text, algorithm: optional(algorithm) }),
  one('drop_keypair', { account: text, keyId: text, ifExists: flag }),
  one('show_accounts', { search: optional(text), ...HOLDING, ...PAGE }),
  /** `owner` null = the caller. */
  one('create_token', { name: text, owner: orNull(text), days: optional(Type.Integer()), scope: optional(text) }),
  one('drop_token', { name: text, owner: orNull(text), ifExists: flag }),
  one('show_tokens', { owner: orNull(text) }),
  one('create_role', { name: text, ifNotExists: flag, scope: optional(text), comment: optional(text) }),
  one('alter_role', { name: text, scope: optional(text), comment: optional(orNull(text)) }),
  one('drop_role', { name: text, ifExists: flag }),
  one('grant_role', { role: text, holder, isRevoke: flag }),
  /** To all who are in a group of an identity provider. */
  one('grant_group_role', {
    role: text,
    group: text,
    provider: text,
    withAdministration: flag,
    isRevoke: flag,
  }),
  one('show_group_grants', { group: text, provider: text }),
  /** `isAccount`: the name is that of a service account, which has no privilege but BYPASS POLICIES. */
  one('grant_privilege', { privilege, user: text, isAccount: optional(flag), isRevoke: flag }),
  one('show_roles', {}),
  one('show_grants', { holder }),
  one('create_webhook', {
    name: text,
    ifNotExists: flag,
    url: text,
    secret: text,
    /** Absent = none was named, and there is no default. */
    events: optional(Type.Array(text, { maxItems: WEBHOOK_EVENTS_MAX })),
  }),
  one('drop_webhook', { name: text, ifExists: flag }),
  /** `event` null = all deliveries that have failed. */
  one('retry_webhook', { name: text, event: orNull(text) }),
  one('show_webhooks', {}),
  /** `webhook` null = those of all. */
  one('show_webhook_deliveries', { webhook: orNull(text), ...PAGE }),
  one('create_provider', { name: text, ifNotExists: flag, issuer: text, ...PROVIDER }),
  one('alter_provider', { name: text, ...PROVIDER }),
  one('drop_provider', { name: text, ifExists: flag }),
  one('show_providers', {}),
  one('describe_provider', { name: text }),
  /** Tokens of the provider that meet all conditions sign in as the account. */
  one('set_trust', {
    account: text,
    provider: text,
    conditions: Type.Array(condition, { minItems: 1, maxItems: PROVIDER_LIST_MAX }),
  }),
  one('drop_trust', { account: text, provider: text, ifExists: flag }),
  one('show_audit_log', { like: orNull(text), ...PAGE }),
  /** `event` is a pattern, `actor` and `target` are a name or an id, the times are in ISO 8601. */
  one('search_audit_log', {
    event: orNull(text),
    actor: orNull(text),
    target: orNull(text),
    from: orNull(text),
    to: orNull(text),
    ...PAGE,
  }),
]);
export type RequestOf<Kind extends PrincipalRequest['kind']> = Extract<PrincipalRequest, { readonly kind: Kind }>;

/** One condition of a trust: the value itself, or, with LIKE, a beginning before one `*` at the end. */
export type TrustCondition = Static<typeof condition>;

/** The rows that a statement answers. */
export type PrincipalAnswer = {
  readonly columns: readonly string[];
  /** The types of the columns, whose values are texts nevertheless; absent = all are VARCHAR. */
  readonly types?: readonly MadeType[];
  readonly rows: readonly (readonly (string | null)[])[];
  /** For `after` of the next page; null = there is none. */
  readonly next: string | null;
};
