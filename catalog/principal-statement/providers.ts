import { randomUUID } from 'node:crypto';
import { isAudienceOf } from '#shared/config/outside-audience.ts';
import { SkeinError } from '#shared/error.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { requirePrincipalAction, type Rights } from '../authorization/decide-principal.ts';
import { isPlainHttps, type Discovery } from '../issuer/discovery.ts';
import { principalId } from '#shared/id.ts';
import { holdsControl } from '#shared/plain-text.ts';
import { givesRoles } from '../store/postgres/group-store.ts';
import { hasActiveAdmin } from '../store/postgres/principal-record-store.ts';
import {
  deleteProvider,
  endTokensOf,
  findProvider,
  insertProvider,
  listProviders,
  principalsOfProvider,
  providerSecretOwner,
  signedInBy,
  updateProvider,
  type ProviderRow,
  type ProviderSettings,
  type SignedInBy,
} from '../store/postgres/provider-store.ts';
import type { Database } from '../store/postgres/tables.ts';
import { changing, done, listAnswer, reading, timeText, type Call, type Changing, type ListColumns } from './change.ts';
import { checkPrincipalName } from './check-names.ts';

const PROVIDERS_MAX = 20;
const AUDIENCE_LENGTH_MAX = 600;
const CLAIM_LENGTH_MAX = 200;
const SECRET_LENGTH_MAX = 1_024;
/** Names of hosts, as they stand behind the `@` of an address. */
const DOMAIN = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]*[a-z0-9])?)+$/;
type Settings = Omit<RequestOf<'alter_provider'>, 'kind' | 'name'>;

/** @throws PROVIDER_NOT_FOUND */
export async function requireProvider(db: Database, tenantId: string, name: string): Promise<ProviderRow> {
  const found = name.includes('\0') ? undefined : await findProvider(db, tenantId, name);
  if (found !== undefined) return found;
  throw new SkeinError('PROVIDER_NOT_FOUND', `identity provider ${name} does not exist`);
}

/**
 * Creates an identity provider, after its issuer's documents were read once: before the transaction, for which nobody waits meanwhile.
 * @throws INVALID_REQUEST that says what is wrong with the issuer; ALREADY_EXISTS, LIMIT_REACHED, FORBIDDEN
 */
export async function createProvider(call: Call, input: RequestOf<'create_provider'>): Promise<PrincipalAnswer> {
  const { name, ifNotExists, issuer } = input;
  checkPrincipalName('an identity provider', name);
  if (!isPlainHttps(issuer)) {
    throw new SkeinError('INVALID_REQUEST', 'ISSUER is an address https://host/path, as the tokens have it in iss');
  }
  if (input.audiences === undefined) {
    throw new SkeinError(
      'INVALID_REQUEST',
      'CREATE IDENTITY PROVIDER needs AUDIENCES: they say which tokens are yours',
    );
  }
  const { db, tenant, actor } = await reading(call);
  requirePrincipalAction(actor, 'provider.create');
  checkSettings(call, tenant.name, input);
  if (ifNotExists && (await findProvider(db, tenant.id, name)) !== undefined) return done(CREATED);
  const discovery = await call.context.issuers.check(issuer);
  return changing(call, async (change) => {
    const { tx, actor: maker, now } = change;
    requirePrincipalAction(maker, 'provider.create');
    const all = await listProviders(tx, tenant.id);
    if ((await findProvider(tx, tenant.id, name)) !== undefined) {
      if (ifNotExists) return done(CREATED);
      throw new SkeinError('ALREADY_EXISTS', `identity provider ${name} exists already`);
    }
    if (all.length >= PROVIDERS_MAX) {
      throw new SkeinError('LIMIT_REACHED', `an organisation has at most ${PROVIDERS_MAX} identity providers`);
    }
    const id = randomUUID();
    const settings = settingsOf(call, id, FRESH, input);
    requireUsable(settings, discovery);
    requireOwnAudiences(all, { id, issuer, audiences: settings.audiences });
    const facts = { id, tenantId: tenant.id, name, issuer, byAdmin: maker.isAdmin, createdBy: maker.id };
    await insertProvider(tx, { ...facts, ...settings, createdAt: now });
    const details = { issuer, audiences: [...settings.audiences], provision: settings.provision };
    await change.record({ type: 'create_identity_provider', target: { id, name }, details });
    return done(CREATED);
  });
}

const CREATED = 'CREATE IDENTITY PROVIDER';

const FRESH: ProviderSettings = {
  clientId: null,
  sealedSecret: null,
  audiences: [],
  usernameClaim: 'preferred_username',
  emailClaim: 'email',
  groupsClaim: 'groups',
  provision: 'NONE',
  domains: [],
  label: null,
  enabled: true,
};

/** @throws INVALID_REQUEST */
function checkSettings(call: Call, tenant: string, input: Settings): void {
  const refuse = (why: string): never => {
    throw new SkeinError('INVALID_REQUEST', why);
  };
  const { audiences, domains, clientSecret, label, clientId } = input;
  if (audiences !== undefined) {
    if (audiences.length === 0) refuse('AUDIENCES names no audience');
    for (const audience of audiences) {
      if (audience.length > AUDIENCE_LENGTH_MAX || holdsControl(audience)) refuse('not an audience');
      if (!isAudienceOf(tenant, audience, call.context.config['catalog.outside_audiences'])) {
        refuse(
          `the audience ${audience} is not this organisation's: use skein:${tenant}, or one that the operator allows in catalog.outside_audiences`,
        );
      }
    }
  }
  for (const domain of domains ?? []) {
    if (domain.length > 253 || !DOMAIN.test(domain))
      refuse('DOMAINS are names of hosts in small letters, such as example.com');
  }
  for (const key of ['usernameClaim', 'emailClaim', 'groupsClaim'] as const) {
    const claim = input[key];
    if (claim !== undefined && (claim === '' || claim.length > CLAIM_LENGTH_MAX || holdsControl(claim))) {
      refuse('the name of a claim has 1 to 200 characters');
    }
  }
  if ((clientSecret ?? '').length > SECRET_LENGTH_MAX)
    refuse(`CLIENT_SECRET has at most ${SECRET_LENGTH_MAX} characters`);
  for (const text of [clientId, label]) {
    if (text === '' || (text ?? '').length > AUDIENCE_LENGTH_MAX || holdsControl(text ?? '')) {
      refuse(`CLIENT_ID and LABEL have 1 to ${AUDIENCE_LENGTH_MAX} characters`);
    }
  }
}

/** The settings after a statement; what it does not name stays. */
function settingsOf(
  { context: { sealing } }: Call,
  id: string,
  before: ProviderSettings,
  input: Settings,
): ProviderSettings {
  const { clientId, clientSecret, audiences, usernameClaim, emailClaim, groupsClaim, provision, domains } = input;
  const { label, enabled } = input;
  const sealedSecret =
    clientSecret === undefined
      ? before.sealedSecret
      : clientSecret === null
        ? null
        : sealing.seal(clientSecret, providerSecretOwner(id));
  return {
    clientId: clientId === undefined ? before.clientId : clientId,
    sealedSecret,
    audiences: audiences === undefined ? before.audiences : [...new Set(audiences)],
    usernameClaim: usernameClaim ?? before.usernameClaim,
    emailClaim: emailClaim ?? before.emailClaim,
    groupsClaim: groupsClaim ?? before.groupsClaim,
    provision: provision ?? before.provision,
    domains: domains === undefined ? before.domains : [...new Set(domains)],
    label: label === undefined ? before.label : label,
    enabled: enabled ?? before.enabled,
  };
}

/** People sign in at endpoints that the issuer has to name. @throws INVALID_REQUEST */
function requireUsable({ clientId, sealedSecret }: ProviderSettings, discovery: Discovery | undefined): void {
  if (clientId === null) {
    if (sealedSecret === null) return;
    throw new SkeinError('INVALID_REQUEST', 'CLIENT_SECRET is that of a CLIENT_ID, which is missing');
  }
  if (discovery === undefined) return;
  for (const [name, url] of [
    ['authorization_endpoint', discovery.authorizeUrl],
    ['token_endpoint', discovery.tokenUrl],
  ] as const) {
    if (url === undefined) {
      throw new SkeinError(
        'INVALID_REQUEST',
        `ISSUER: its discovery document has no ${name}, so nobody signs in by CLIENT_ID`,
      );
    }
  }
}

type Claiming = Pick<ProviderRow, 'id' | 'issuer' | 'audiences'>;

/** A token names one provider by its issuer and its audience. @throws INVALID_STATE */
function requireOwnAudiences(all: readonly ProviderRow[], own: Claiming): void {
  const other = all.find(
    ({ id, issuer, audiences }) =>
      id !== own.id && issuer === own.issuer && audiences.some((one) => own.audiences.includes(one)),
  );
  if (other === undefined) return;
  throw new SkeinError(
    'INVALID_STATE',
    `identity provider ${other.name} has this issuer and one of these audiences already`,
  );
}

/** A provider as the target of a change: who changes it could become each of those whom it signs in. */
const rightsOf = ({ id }: ProviderRow, { isAdmin, privileges }: SignedInBy): Rights => ({
  id: principalId(id),
  isAdmin,
  privileges,
});

/** The provider of a change that the caller may make. @throws PROVIDER_NOT_FOUND, FORBIDDEN */
async function changeableProvider({ tx, tenant, actor }: Changing, name: string): Promise<ProviderRow> {
  requirePrincipalAction(actor, 'provider.create');
  const provider = await requireProvider(tx, tenant.id, name);
  requirePrincipalAction(actor, 'provider.change', rightsOf(provider, await signedInBy(tx, provider.id)));
  if (!actor.isAdmin && (await givesRoles(tx, provider.id))) {
    throw new SkeinError('FORBIDDEN', 'groups of the provider give roles: a tenant_admin changes it');
  }
  return provider;
}

/** Settings that decide who somebody is, and in which groups. */
const DECIDING: readonly (keyof Settings)[] = [
  'clientId',
  'audiences',
  'usernameClaim',
  'emailClaim',
  'groupsClaim',
  'domains',
];

/**
 * A provider that a tenant_admin has made may open administrators later, so nobody else decides whom its tokens are: not by a claim that people fill in
 * themselves, nor by an application of his own. @throws FORBIDDEN
 */
function requireWhoStays({ actor }: Changing, { byAdmin }: ProviderRow, settings: Settings): void {
  if (actor.isAdmin || !byAdmin || DECIDING.every((setting) => settings[setting] === undefined)) return;
  throw new SkeinError(
    'FORBIDDEN',
    'a tenant_admin has made the provider: a tenant_admin changes its application, audiences, claims and domains',
  );
}

/** Changes a provider, and ends the tokens of all whom it signs in; what they run ends when it is disabled. Its issuer stays, because subjects are the issuer's. @throws PROVIDER_NOT_FOUND, FORBIDDEN */
export async function alterProvider(call: Call, input: RequestOf<'alter_provider'>): Promise<PrincipalAnswer> {
  const { kind: _kind, name, ...settings } = input;
  checkSettings(call, call.principal.tenant, settings);
  const discovery = typeof input.clientId === 'string' ? await discoveryOf(call, name) : undefined;
  return changing(call, async (change) => {
    const { tx, tenant } = change;
    const provider = await changeableProvider(change, name);
    requireWhoStays(change, provider, settings);
    const next = settingsOf(call, provider.id, provider, settings);
    requireUsable(next, discovery);
    requireOwnAudiences(await listProviders(tx, tenant.id), { ...provider, audiences: next.audiences });
    await updateProvider(tx, provider.id, next);
    await endTokensOf(tx, await principalsOfProvider(tx, provider.id), provider.enabled && !next.enabled);
    const details = { changed: Object.keys(settings) };
    await change.record({ type: 'alter_identity_provider', target: { id: provider.id, name: provider.name }, details });
    return done('ALTER IDENTITY PROVIDER');
  });
}

async function discoveryOf(call: Call, name: string): Promise<Discovery> {
  const { db, tenant, actor } = await reading(call);
  requirePrincipalAction(actor, 'provider.create');
  return call.context.issuers.check((await requireProvider(db, tenant.id, name)).issuer);
}

/** Drops a provider: all whom it has signed in are out with what they run, and its trusts and links are gone. @throws PROVIDER_NOT_FOUND, FORBIDDEN, INVALID_STATE */
export const dropProvider = (call: Call, { name, ifExists }: RequestOf<'drop_provider'>): Promise<PrincipalAnswer> =>
  changing(call, async (change) => {
    const { tx, tenant, actor } = change;
    requirePrincipalAction(actor, 'provider.create');
    if (ifExists && (await findProvider(tx, tenant.id, name)) === undefined) return done(DROPPED);
    const { id, name: spelled } = await changeableProvider(change, name);
    const { users, accounts } = await signedInBy(tx, id);
    const theirs = await principalsOfProvider(tx, id);
    await deleteProvider(tx, id);
    // The roles that its groups gave may have been the last of an administrator.
    if (!(await hasActiveAdmin(tx, tenant.id))) {
      throw new SkeinError('INVALID_STATE', 'its groups give the last active tenant_admin of the organisation');
    }
    // Last, as groups that go raise epochs, too: the newest one says that what they run ends.
    await endTokensOf(tx, theirs, true);
    await change.record({
      type: 'drop_identity_provider',
      target: { id, name: spelled },
      details: { users, accounts },
    });
    return done(DROPPED);
  });

const DROPPED = 'DROP IDENTITY PROVIDER';

/** Never a secret. */
const LISTED: ListColumns<ProviderRow> = {
  name: ['VARCHAR', ({ name }) => name],
  issuer: ['VARCHAR', ({ issuer }) => issuer],
  client_id: ['VARCHAR', ({ clientId }) => clientId],
  audiences: ['VARCHAR', ({ audiences }) => JSON.stringify(audiences)],
  provision: ['VARCHAR', ({ provision }) => provision],
  label: ['VARCHAR', ({ label }) => label],
  enabled: ['BOOLEAN', ({ enabled }) => String(enabled)],
  created_at: ['TIMESTAMP WITH TIME ZONE', ({ createdAt }) => timeText(createdAt)],
};

type Described = ProviderRow & SignedInBy;

const DESCRIBED: ListColumns<Described> = {
  ...LISTED,
  has_client_secret: ['BOOLEAN', ({ sealedSecret }) => String(sealedSecret !== null)],
  username_claim: ['VARCHAR', ({ usernameClaim }) => usernameClaim],
  email_claim: ['VARCHAR', ({ emailClaim }) => emailClaim],
  groups_claim: ['VARCHAR', ({ groupsClaim }) => groupsClaim],
  domains: ['VARCHAR', ({ domains }) => JSON.stringify(domains)],
  made_by_administrator: ['BOOLEAN', ({ byAdmin }) => String(byAdmin)],
  users: ['INTEGER', ({ users }) => String(users)],
  service_accounts: ['INTEGER', ({ accounts }) => String(accounts)],
  id: ['VARCHAR', ({ id }) => id],
};

/** `SHOW IDENTITY PROVIDERS` @throws FORBIDDEN */
export async function showProviders(call: Call): Promise<PrincipalAnswer> {
  const { db, tenant, actor } = await reading(call);
  requirePrincipalAction(actor, 'provider.show');
  return listAnswer(LISTED, await listProviders(db, tenant.id));
}

/** `DESCRIBE IDENTITY PROVIDER` @throws FORBIDDEN, PROVIDER_NOT_FOUND */
export async function describeProvider(call: Call, { name }: RequestOf<'describe_provider'>): Promise<PrincipalAnswer> {
  const { db, tenant, actor } = await reading(call);
  requirePrincipalAction(actor, 'provider.show');
  const provider = await requireProvider(db, tenant.id, name);
  return listAnswer(DESCRIBED, [{ ...provider, ...(await signedInBy(db, provider.id)) }]);
}
