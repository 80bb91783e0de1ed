import { SkeinError } from '#shared/error.ts';
import type { PrincipalId } from '#shared/id.ts';
import type { PrincipalAnswer, RequestOf } from '#shared/principal/principal-request.ts';
import { requirePrincipalAction } from '../authorization/decide-principal.ts';
import { isUniqueViolation } from '../store/postgres/errors.ts';
import { insertInvitation } from '../store/postgres/credential-store.ts';
import { countPrincipals, findByName } from '../store/postgres/principal-record-store.ts';
import { insertRecord, setDefaultRole } from '../store/postgres/principal-change-store.ts';
import { grantRole, PUBLIC_ROLE } from '../store/postgres/role-store.ts';
import { newSecret, sha256 } from '../token/secret.ts';
import { changing, done, reading, type Call, type Changing } from './change.ts';
import { checkEmail, checkPrincipalName, checkText } from './check-names.ts';
import { requireRole } from './roles.ts';
import { hashNewPassword } from './user-password.ts';

export const USERS_MAX = 100_000;
const INVITATION_PREFIX = 'skein_inv_';
const INVITATION_DAYS = 7;
const DAY_MS = 86_400_000;

type CreateUser = RequestOf<'create_user'>;

/**
 * Creates a user: active with a password; without one invited, with a token that is shown this once.
 * @throws ALREADY_EXISTS, PASSWORD_POLICY, FORBIDDEN, LIMIT_REACHED, ROLE_NOT_FOUND
 */
export async function createUser(call: Call, input: CreateUser): Promise<PrincipalAnswer> {
  const { name, email, password } = input;
  checkPrincipalName('a user', name);
  if (email === undefined) throw new SkeinError('INVALID_REQUEST', 'CREATE USER needs EMAIL');
  checkEmail(email);
  for (const key of ['displayName', 'comment', 'defaultWarehouse'] as const) checkText(key, input[key]);
  const { db, actor, tenant } = await reading(call);
  requirePrincipalAction(actor, 'user.create');
  if (input.ifNotExists && (await findByName(db, tenant.id, name)) !== undefined) return done('CREATE USER');
  const hash =
    password === undefined ? null : await hashNewPassword(call, tenant.id, { password, username: name, email });
  return changing(call, async (change) => {
    requirePrincipalAction(change.actor, 'user.create');
    if ((await findByName(change.tx, tenant.id, name)) !== undefined) {
      if (input.ifNotExists) return done('CREATE USER');
      throw taken(`user or service account ${name} exists already`);
    }
    if ((await countPrincipals(change.tx, tenant.id, 'USER')) >= USERS_MAX) {
      throw new SkeinError('LIMIT_REACHED', `an organisation has at most ${USERS_MAX} users`);
    }
    const id = await insertUser(change, input, hash);
    const target = { id, name };
    await change.record({ type: 'create_user', target, details: { status: hash === null ? 'INVITED' : 'ACTIVE' } });
    await grantDefaultRole(change, target, input.defaultRole);
    return hash === null ? invite(call, change, target) : done('CREATE USER');
  });
}

const taken = (message: string): SkeinError => new SkeinError('ALREADY_EXISTS', message);

async function insertUser(
  { tx, tenant, actor, now }: Changing,
  input: CreateUser,
  hash: string | null,
): Promise<PrincipalId> {
  const { name, email = null } = input;
  try {
    return await insertRecord(tx, {
      tenantId: tenant.id,
      name,
      comment: input.comment ?? null,
      now,
      user: {
        passwordHash: hash,
        passwordSetBy: hash === null ? null : actor.id,
        email,
        displayName: input.displayName ?? null,
        defaultWarehouse: input.defaultWarehouse ?? null,
        mustChangePassword: input.mustChangePassword ?? false,
      },
    });
  } catch (error) {
    if (isUniqueViolation(error)) throw taken('another user has this email');
    throw error;
  }
}

/** Grants the role that a new principal begins with; only a tenant_admin may, unless it is `public`. */
export async function grantDefaultRole(
  change: Changing,
  target: { readonly id: PrincipalId; readonly name: string },
  name: string | null | undefined,
): Promise<void> {
  if (name === undefined || name === null) return;
  const { tx, tenant, actor, record } = change;
  const role = await requireRole(tx, tenant.id, name);
  if (role.name !== PUBLIC_ROLE) {
    requirePrincipalAction(actor, 'role.grant');
    await grantRole(tx, target.id, role.id);
    await record({ type: 'grant_role', target, details: { role: role.name } });
  }
  await setDefaultRole(tx, target.id, role.name);
}

/** Makes an invitation, and shows it this once. */
export async function invite(
  { context }: Call,
  { tx, actor, now }: Changing,
  { id, name }: { readonly id: PrincipalId; readonly name: string },
): Promise<PrincipalAnswer> {
  const token = newSecret(INVITATION_PREFIX);
  await insertInvitation(tx, id, {
    sha256: sha256(token),
    createdBy: actor.id,
    now,
    expiresAt: new Date(now.getTime() + INVITATION_DAYS * DAY_MS),
  });
  const { 'catalog.public_url': publicUrl, 'catalog.url': ownUrl } = context.config;
  const url = `${(publicUrl || ownUrl).replace(/\/$/, '')}/sign-in/invitation#${token}`;
  return { columns: ['username', 'invitation_token', 'invitation_url'], rows: [[name, token, url]], next: null };
}
