/** The module of this room's functions that worker threads run. */
export const COMMIT_THREAD = new URL('./commits-in-thread.ts', import.meta.url);
