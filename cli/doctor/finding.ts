/** The result of a check of `skein doctor`. */
export type Finding = { readonly state: 'ok' | 'warning' | 'failed'; readonly message: string };

export const ok = (message: string): Finding => ({ state: 'ok', message });
export const warning = (message: string): Finding => ({ state: 'warning', message });
export const failed = (message: string): Finding => ({ state: 'failed', message });
