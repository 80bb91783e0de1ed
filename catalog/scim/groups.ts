import { randomUUID } from 'node:crypto';
import { isUuid, type PrincipalId } from '#shared/id.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { isGroupName, NAMED_MAX, whileRising } from '../principal-statement/group-grants.ts';
import type { Recording } from '../principal-statement/change.ts';
import { membersOf } from '../store/postgres/group-store.ts';
import { hasActiveAdmin } from '../store/postgres/principal-record-store.ts';
import {
  beginScimGroups,
  countScimGroups,
  deleteScimGroup,
  findScimGroup,
  insertScimGroup,
  listScimGroups,
  membersOfGroups,
  principalsOfUsers,
  setMembers,
  updateScimGroup,
  type ScimGroupRow,
  type ScimMember,
  type ScimPage,
} from '../store/postgres/scim-store.ts';
import type { Comparison } from './parse-filter.ts';
import { isObject, patchResource, readOperations } from './patch-resource.ts';
import { ScimError } from './scim-error.ts';
import { notFound, requireTag, scimChange, tagOf, type ScimCall } from './scim-call.ts';

const GROUP = 'urn:ietf:params:scim:schemas:core:2.0:Group';
const GROUPS_MAX = 10_000;
/** Members of all groups of a page. */
const LISTED_MAX = 200_000;
export const GROUP_FILTERS = ['id', 'displayName', 'externalId', 'members'] as const;

type Described = { readonly name: string; readonly externalId: string | null; readonly members: readonly string[] };
export type ScimGroup = ScimGroupRow & { readonly members: readonly ScimMember[] };

const refuse = (message: string): never => {
  throw new ScimError(400, message, { type: 'invalidValue' });
};

/** Reads a group of a body. @throws ScimError */
function readGroup(body: Json): Described {
  if (!isObject(body)) return refuse('a group is an object');
  const facts = new Map(Object.entries(body).map(([name, value]) => [name.toLowerCase(), value]));
  const [name, externalId = null, list = []] = [
    facts.get('displayname'),
    facts.get('externalid'),
    facts.get('members'),
  ];
  if (!isGroupName(name)) return refuse('displayName is missing, or no name of a group');
  if (externalId !== null && !isGroupName(externalId)) return refuse('externalId is no text');
  if (!Array.isArray(list)) return refuse('members are a list');
  const members = list.map((one: Json) => {
    const value = isObject(one) ? one['value'] : undefined;
    return typeof value === 'string' && isUuid(value) ? value : refuse('a member is named by its id in value');
  });
  return { name, externalId, members: [...new Set(members)] };
}

/** A group as it is answered. @param isWhole its members, too */
export function printGroup({ base }: ScimCall, group: ScimGroup, isWhole = true): JsonObject {
  const { id, name, externalId, version, createdAt, updatedAt, members } = group;
  return {
    schemas: [GROUP],
    id,
    displayName: name,
    ...(externalId === null ? {} : { externalId }),
    ...(isWhole
      ? { members: members.map((one) => ({ value: one.id, display: one.userName, $ref: `${base}/Users/${one.id}` })) }
      : {}),
    meta: {
      resourceType: 'Group',
      created: createdAt.toISOString(),
      lastModified: updatedAt.toISOString(),
      location: `${base}/Groups/${id}`,
      version: tagOf(version),
    },
  };
}

type Db = Parameters<typeof findScimGroup>[0];

async function requireGroup(db: Db, { provider }: ScimCall, id: string): Promise<ScimGroup> {
  const found = isUuid(id) ? await findScimGroup(db, provider.id, id) : undefined;
  if (found === undefined) throw notFound();
  return { ...found, members: await membersOfGroups(db, provider.id, [found.name]) };
}

export const getGroup = (call: ScimCall, id: string): Promise<ScimGroup> =>
  requireGroup(call.context.store.db, call, id);

export async function listGroups(
  { context, provider }: ScimCall,
  where: readonly Comparison[],
  page: ScimPage,
  isWhole: boolean,
): Promise<{ readonly rows: readonly ScimGroup[]; readonly total: number }> {
  const { db } = context.store;
  const { rows, total } = await listScimGroups(db, provider.id, where, page);
  const names = isWhole ? rows.map(({ name }) => name) : [];
  const members = Map.groupBy(await membersOfGroups(db, provider.id, names, LISTED_MAX + 1), ({ group }) => group);
  if ([...members.values()].reduce((sum, { length }) => sum + length, 0) > LISTED_MAX) {
    throw new ScimError(
      400,
      'the groups have too many members for a list: excludedAttributes=members leaves them out',
      {
        type: 'tooMany',
      },
    );
  }
  return { rows: rows.map((row) => ({ ...row, members: members.get(row.name) ?? [] })), total };
}

export async function createGroup(call: ScimCall, body: Json): Promise<ScimGroup> {
  const described = readGroup(body);
  const { provider } = call;
  return groupChange(call, async (change) => {
    const { tx, now } = change;
    if ((await countScimGroups(tx, provider.id)) >= GROUPS_MAX) {
      throw new ScimError(400, `a provider has at most ${GROUPS_MAX} groups`, { type: 'tooMany' });
    }
    await beginScimGroups(tx, provider.id);
    const id = randomUUID();
    await insertScimGroup(tx, { ...described, id, providerId: provider.id, now });
    await putMembers(call, change, described.name, described.members);
    return requireGroup(tx, call, id);
  });
}

export const replaceGroup = (call: ScimCall, id: string, body: Json, ifMatch?: string): Promise<ScimGroup> =>
  changeGroup(call, id, ifMatch, () => body);

export function patchGroup(call: ScimCall, id: string, body: Json, ifMatch?: string): Promise<ScimGroup> {
  const operations = readOperations(body);
  return changeGroup(call, id, ifMatch, (group) => {
    // Elements are compared whole: members are their ids here.
    const own = { ...printGroup(call, group), members: group.members.map((one) => ({ value: one.id })) };
    const plain = operations.map((operation) =>
      operation.path?.toLowerCase() === 'members' && Array.isArray(operation.value)
        ? {
            ...operation,
            value: operation.value.map((one: Json) => (isObject(one) ? { value: one['value'] ?? null } : one)),
          }
        : operation,
    );
    return patchResource(own, plain);
  });
}

function changeGroup(
  call: ScimCall,
  id: string,
  ifMatch: string | undefined,
  next: (group: ScimGroup) => Json,
): Promise<ScimGroup> {
  return groupChange(call, async (change) => {
    const { tx, now } = change;
    const group = await requireGroup(tx, call, id);
    requireTag(group.version, ifMatch);
    const described = readGroup(next(group));
    await updateScimGroup(tx, { id, ...described }, now);
    if (described.name !== group.name) await putMembers(call, change, group.name, []);
    await putMembers(call, change, described.name, described.members);
    return requireGroup(tx, call, id);
  });
}

export const deleteGroup = (call: ScimCall, id: string, ifMatch?: string): Promise<void> =>
  groupChange(call, async (change) => {
    const group = await requireGroup(change.tx, call, id);
    requireTag(group.version, ifMatch);
    await putMembers(call, change, group.name, []);
    await deleteScimGroup(change.tx, id);
  });

/**
 * Runs a change of groups. A group may give its members tenant_admin: the last active one stays, as when a user is deactivated. A group that
 * moves its members to another name is looked at when all of it is done. @throws ScimError
 */
const groupChange = <T>(call: ScimCall, work: (change: Recording) => Promise<T>): Promise<T> =>
  scimChange(call, async (change) => {
    const done = await work(change);
    if (await hasActiveAdmin(change.tx, call.provider.tenantId)) return done;
    throw new ScimError(400, 'the group gives the last active tenant_admin of the organisation', {
      type: 'mutability',
    });
  });

/** Sets who is in a group. Who has tenant_admin by it loses what lesser ones have made for him. @throws ScimError for a member that is none */
async function putMembers(
  { provider }: ScimCall,
  change: Recording,
  group: string,
  ids: readonly string[],
): Promise<void> {
  const { tx } = change;
  const found = await principalsOfUsers(tx, provider.id, ids);
  const unknown = ids.find((id) => !found.has(id));
  if (unknown !== undefined) throw new ScimError(400, `there is no user ${unknown}`, { type: 'invalidValue' });
  const named = { providerId: provider.id, group };
  const members: readonly PrincipalId[] = [...found.values()];
  const before = new Set(await membersOf(tx, named));
  const added = members.filter((id) => !before.has(id));
  const now = new Set(members);
  const removed = [...before].filter((id) => !now.has(id));
  await whileRising(change, added, () => setMembers(tx, named, members));
  if (added.length === 0 && removed.length === 0) return;
  await change.record({
    type: 'change_group_members',
    target: { id: null, name: group },
    details: {
      provider: provider.name,
      added: added.slice(0, NAMED_MAX),
      removed: removed.slice(0, NAMED_MAX),
    },
  });
}
