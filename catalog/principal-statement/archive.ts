import type { PrincipalId } from '#shared/id.ts';
import { deleteAppSignIns, deleteCodes } from '../store/postgres/app-sign-in-store.ts';
import { deleteBrowserSignIns } from '../store/postgres/browser-sign-in-store.ts';
import { deleteAccessTokens, deleteFormerPasswords, deleteInvitations } from '../store/postgres/credential-store.ts';
import { deleteFactors } from '../store/postgres/factor-store.ts';
import { leaveGroups } from '../store/postgres/group-store.ts';
import { deleteIdentities } from '../store/postgres/identity-store.ts';
import { revokePrivilege, revokeRole } from '../store/postgres/role-store.ts';
import { forgetScimUser } from '../store/postgres/scim-store.ts';
import { storeArchived } from '../store/postgres/principal-change-store.ts';
import { deleteSignIns } from '../store/postgres/sign-in-store.ts';
import type { Tx } from '../store/postgres/tables.ts';
import { archivedName } from './archived-name.ts';

/** Ends the tokens, sign-ins and invitations of a user for good. */
export async function endCredentials(tx: Tx, id: PrincipalId): Promise<void> {
  await deleteAccessTokens(tx, id);
  await deleteInvitations(tx, id);
  await deleteBrowserSignIns(tx, id);
  await deleteAppSignIns(tx, id);
  await deleteCodes(tx, id);
}

/** Keeps the row of a user who was dropped, and nothing that is personal: name and email are free again. */
export async function archive(tx: Tx, id: PrincipalId, now: Date): Promise<void> {
  await endCredentials(tx, id);
  await deleteFactors(tx, id);
  await deleteFormerPasswords(tx, id);
  await deleteSignIns(tx, id);
  await leaveGroups(tx, id);
  await deleteIdentities(tx, id);
  await forgetScimUser(tx, id);
  await revokeRole(tx, id);
  await revokePrivilege(tx, id);
  await storeArchived(tx, id, archivedName(id), now);
}
