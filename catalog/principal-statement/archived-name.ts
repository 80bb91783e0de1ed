import { isUuid, type PrincipalId } from '#shared/id.ts';

const PREFIX = 'archived-';

/** The name of a user whose own is free again. */
export const archivedName = (id: PrincipalId): string => PREFIX + id;

/** Whether a name is kept for somebody who is archived: whoever took it would keep him from being archived. */
export const isArchivedName = (name: string): boolean =>
  name.slice(0, PREFIX.length).toLowerCase() === PREFIX && isUuid(name.slice(PREFIX.length).toLowerCase());
