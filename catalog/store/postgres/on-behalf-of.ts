import { AsyncLocalStorage } from 'node:async_hooks';
import type { Asker } from '#shared/fair/asker.ts';
import { addressKey } from '#shared/newcomers/address-key.ts';

/** For whom the code that runs asks Postgres, and whether it holds a connection meanwhile. */
export type Asking = Asker & { readonly isHolding?: true };

/** Work of the catalog itself, and of many tenants together. No tenant has a name with a slash. */
const OWN: Asking = { tenant: '/own', principal: '' };
/** The tenant of all who have not signed in yet. */
const SIGNING_IN = '/signing-in';

const askings = new AsyncLocalStorage<Asking>();

/** For whom the caller asks: the catalog itself where nobody has said otherwise. */
export const currentAsking = (): Asking => askings.getStore() ?? OWN;

/** Runs `work`, and all that it starts, for a principal of a tenant. */
export const onBehalfOf = <T>({ tenant, principal }: Asker, work: () => T): T =>
  askings.run({ tenant, principal }, work);

/** Runs `work` for whoever has this address, and has not signed in yet. */
export const forAddress = <T>(address: string, work: () => T): T =>
  onBehalfOf({ tenant: SIGNING_IN, principal: addressKey(address) }, work);

/** Runs `work` for the catalog itself: others than the caller may wait for it, too. */
export const forEverybody = <T>(work: () => T): T => onBehalfOf(OWN, work);

/** Runs the work of a transaction. What it asks of Postgres besides its transaction waits for nobody. */
export const whileHolding = <T>(work: () => T): T => askings.run({ ...currentAsking(), isHolding: true }, work);
