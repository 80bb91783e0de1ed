/**
 * Branded ids: strings or bigints that the compiler keeps apart. Int64 ids of Iceberg (snapshot ids, sequence numbers) are always `bigint`,
 * never `number`.
 */
declare const brand: unique symbol;
type Branded<T, Name extends string> = T & { readonly [brand]: Name };

export type QueryId = Branded<string, 'QueryId'>;
export type TaskId = Branded<string, 'TaskId'>;
export type WorkerId = Branded<string, 'WorkerId'>;
export type TenantId = Branded<string, 'TenantId'>;
export type PrincipalId = Branded<string, 'PrincipalId'>;

export const queryId = (text: string): QueryId => text as QueryId;
export const taskId = (text: string): TaskId => text as TaskId;
export const workerId = (text: string): WorkerId => text as WorkerId;
export const tenantId = (text: string): TenantId => text as TenantId;
export const principalId = (text: string): PrincipalId => text as PrincipalId;

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Whether `text` is a UUID in its canonical 36-character form, any version. */
export const isUuid = (text: string): boolean => UUID.test(text);
