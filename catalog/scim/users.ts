import { randomUUID } from 'node:crypto';
import { isUuid } from '#shared/id.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { must } from '#shared/must.ts';
import { isPlainText } from '#shared/plain-text.ts';
import { dropping } from '../principal-statement/drop-user.ts';
import { partyOf, type Recording } from '../principal-statement/change.ts';
import { moveUser, requireAdminLeft } from '../principal-statement/move-user.ts';
import { makeExternalUser, believedEmail, shownText } from '../sign-in/user-of-identity.ts';
import { findIdentityByExternalId } from '../store/postgres/identity-store.ts';
import { storeProfile } from '../store/postgres/principal-change-store.ts';
import { findById, type PrincipalRecord } from '../store/postgres/principal-record-store.ts';
import { maySignIn } from '../store/postgres/principal-store.ts';
import {
  deleteScimUser,
  findScimUser,
  insertScimUser,
  isSaidInactive,
  listScimUsers,
  updateScimUser,
  type ScimPage,
  type ScimUserRow,
} from '../store/postgres/scim-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import type { Comparison } from './parse-filter.ts';
import { isObject, patchResource, readOperations } from './patch-resource.ts';
import { ScimError } from './scim-error.ts';
import { notFound, requireTag, scimChange, tagOf, type ScimCall } from './scim-call.ts';

const USER = 'urn:ietf:params:scim:schemas:core:2.0:User';
const RESOURCE_LENGTH_MAX = 16_384;
const TEXT_LENGTH_MAX = 600;
/** As JSON writes them: NUL and halves of characters, which Postgres takes in no text. */
const NO_TEXT = /\\u(?:0000|d[89a-f])/;
export const USER_FILTERS = ['id', 'userName', 'externalId', 'emails'] as const;
/** Attributes that are ours, or never kept: a password that somebody sends is nobody's. */
const NOT_KEPT: ReadonlySet<string> = new Set(['id', 'meta', 'groups', 'password', 'active', 'username', 'externalid']);

/** A user as a provider describes him. */
type Described = {
  readonly userName: string;
  readonly externalId: string | null;
  readonly active: boolean;
  readonly emails: readonly string[];
  readonly displayName: string | null;
  /** All else that it says. */
  readonly resource: JsonObject;
};

/** A provider vouches for what it sends; emails count in its domains alone. */
const externalOf = ({ userName, emails, displayName, externalId }: Described) => ({
  userName,
  email: emails[0],
  isVerified: true,
  displayName,
  seed: externalId ?? userName,
});

const refuse = (message: string): never => {
  throw new ScimError(400, message, { type: 'invalidValue' });
};

const isText = (value: unknown): value is string => isPlainText(value, TEXT_LENGTH_MAX);

/**
 * Reads a user of a body. Entra writes `active` as a text. @param before what it is where the body does not say it: nobody is let back by what was
 * left out @throws ScimError
 */
function readUser(body: Json, before = true): Described {
  if (!isObject(body)) return refuse('a user is an object');
  const facts = new Map(Object.entries(body).map(([name, value]) => [name.toLowerCase(), value]));
  const [userName, externalId = null] = [facts.get('username'), facts.get('externalid')];
  if (!isText(userName)) return refuse('userName is missing, or no text');
  if (externalId !== null && !isText(externalId)) return refuse('externalId is no text');
  const active = facts.get('active') ?? before;
  const word = typeof active === 'string' ? active.toLowerCase() : active;
  if (word !== true && word !== false && word !== 'true' && word !== 'false') return refuse('active is true or false');
  const list = facts.get('emails') ?? [];
  const emails = Array.isArray(list)
    ? list.flatMap((one: Json) => (isObject(one) && isText(one['value']) ? [one['value']] : []))
    : [];
  const resource = Object.fromEntries(Object.entries(body).filter(([name]) => !NOT_KEPT.has(name.toLowerCase())));
  const text = JSON.stringify(resource);
  if (text.length > RESOURCE_LENGTH_MAX) return refuse(`a user has at most ${RESOURCE_LENGTH_MAX} characters`);
  if (NO_TEXT.test(text)) return refuse('a text has a character that is not kept');
  const shown = facts.get('displayname') ?? formattedOf(facts.get('name'));
  return {
    userName,
    externalId,
    active: word === true || word === 'true',
    emails,
    displayName: shownText(shown),
    resource,
  };
}

const formattedOf = (name: Json | undefined): Json | undefined => (isObject(name) ? name['formatted'] : undefined);

/** A user as he is answered. */
export function printUser({ base }: ScimCall, row: ScimUserRow): JsonObject {
  const { id, userName, externalId, resource, version, createdAt, updatedAt, status } = row;
  return {
    schemas: [USER],
    ...resource,
    id,
    userName,
    ...(externalId === null ? {} : { externalId }),
    active: maySignIn(status),
    meta: {
      resourceType: 'User',
      created: createdAt.toISOString(),
      lastModified: updatedAt.toISOString(),
      location: `${base}/Users/${id}`,
      version: tagOf(version),
    },
  };
}

async function requireScimUser(
  db: Parameters<typeof findScimUser>[0],
  { provider }: ScimCall,
  id: string,
): Promise<ScimUserRow> {
  const found = isUuid(id) ? await findScimUser(db, provider.id, id) : undefined;
  if (found === undefined) throw notFound();
  return found;
}

export const getUser = (call: ScimCall, id: string): Promise<ScimUserRow> =>
  requireScimUser(call.context.store.db, call, id);

export const listUsers = (
  { context, provider }: ScimCall,
  where: readonly Comparison[],
  page: ScimPage,
): ReturnType<typeof listScimUsers> => listScimUsers(context.store.db, provider.id, where, page);

/** The user whom the person of an externalId has linked, or has become by his first sign-in. */
const linkedUser = async (
  tx: Tx,
  providerId: string,
  { externalId }: Described,
): ReturnType<typeof findIdentityByExternalId> =>
  externalId === null ? undefined : findIdentityByExternalId(tx, providerId, externalId);

/** Makes a user, or takes the one that is linked with this id of the provider; never one of the same name or email. @throws ScimError */
export async function createScimUser(call: ScimCall, body: Json): Promise<ScimUserRow> {
  const described = readUser(body);
  const { provider } = call;
  return scimChange(call, async (change) => {
    const { tx, now } = change;
    const linked = await linkedUser(tx, provider.id, described);
    const principal = linked ?? (await makeExternalUser(change, provider, externalOf(described)));
    if (principal === undefined)
      throw new ScimError(400, 'the organisation has as many users as it may have', { type: 'tooMany' });
    const id = randomUUID();
    await insertScimUser(tx, { ...described, id, providerId: provider.id, principal, now });
    const user = must(await findById(tx, principal), 'it is there');
    if (linked !== undefined) await storeFacts(call, change, user, described);
    await activate(call, change, user, described.active);
    return requireScimUser(tx, call, id);
  });
}

export const replaceUser = (call: ScimCall, id: string, body: Json, ifMatch?: string): Promise<ScimUserRow> =>
  changeUser(call, id, ifMatch, () => body);

export function patchUser(call: ScimCall, id: string, body: Json, ifMatch?: string): Promise<ScimUserRow> {
  const operations = readOperations(body);
  // One whom an administrator has suspended here is as active as the provider has said.
  return changeUser(call, id, ifMatch, (row) =>
    patchResource({ ...printUser(call, row), active: row.active }, operations),
  );
}

function changeUser(
  call: ScimCall,
  id: string,
  ifMatch: string | undefined,
  next: (row: ScimUserRow) => Json,
): Promise<ScimUserRow> {
  return scimChange(call, async (change) => {
    const row = await requireScimUser(change.tx, call, id);
    requireTag(row.version, ifMatch);
    const described = readUser(next(row), row.active);
    const linked =
      described.externalId === row.externalId ? undefined : await linkedUser(change.tx, call.provider.id, described);
    if (linked !== undefined && linked !== row.principal) {
      throw new ScimError(409, 'another user is linked with this externalId', { type: 'uniqueness' });
    }
    await updateScimUser(change.tx, row.id, described, change.now);
    const user = must(await findById(change.tx, row.principal), 'it is there');
    await storeFacts(call, change, user, described);
    await activate(call, change, user, described.active);
    return requireScimUser(change.tx, call, id);
  });
}

/** The name and the email of a user; his name here stays, because grants, policies and the history say it. */
async function storeFacts(
  { provider }: ScimCall,
  { tx, now, record }: Recording,
  user: PrincipalRecord,
  described: Described,
): Promise<void> {
  if (user.identitySource !== 'EXTERNAL') return;
  const email = await believedEmail(tx, provider, { email: described.emails[0], isVerified: true, of: user.id });
  const displayName = described.displayName;
  const isSame = displayName === user.displayName && (email === null || email === user.email);
  if (isSame) return;
  await storeProfile(tx, user.id, { displayName, ...(email === null ? {} : { email }) }, { now, endsTokens: false });
  await record({ type: 'alter_user', target: partyOf(user), details: { changed: ['displayName', 'email'] } });
}

/**
 * `active: false` suspends: the user is out at every door; true lets him back, but nobody whom an administrator has suspended here, nor of whom
 * another provider says that he is not active. @throws ScimError for the last tenant_admin
 */
async function activate(
  { provider }: ScimCall,
  change: Recording,
  user: PrincipalRecord,
  active: boolean,
): Promise<void> {
  if (active === maySignIn(user.status)) return;
  if (active) {
    if (user.status !== 'SUSPENDED') throw new ScimError(400, `the user is ${user.status}`, { type: 'mutability' });
    if (!user.suspendedByProvider || (await isSaidInactive(change.tx, user.id))) return;
    await moveUser(change, user, { kind: 'unsuspend' });
    return change.record({ type: 'unsuspend_user', target: partyOf(user) });
  }
  await moveUser(change, user, { kind: 'suspend' }, true);
  await requireAdminLeft(change.tx, provider.tenantId, user);
  await change.record({ type: 'suspend_user', target: partyOf(user) });
}

/** Drops a user as DROP USER CASCADE does: UNDROP has its time, and a legal hold holds. @throws ScimError */
export const deleteUser = (call: ScimCall, id: string, ifMatch?: string): Promise<void> =>
  scimChange(call, async (change) => {
    const row = await requireScimUser(change.tx, call, id);
    requireTag(row.version, ifMatch);
    const user = must(await findById(change.tx, row.principal), 'it is there');
    if (user.id === call.actor.id) throw new ScimError(403, 'nobody drops himself');
    await deleteScimUser(change.tx, row.id);
    if (user.status !== 'DEACTIVATED') await dropping(change, call.provider.tenantId, user);
  });
