import type { ErrorData } from '#shared/error.ts';

/** What a child tells the launcher, or its supervisor, over the IPC channel, once: how its start ended. */
export type ChildMessage =
  | {
      readonly kind: 'ready';
      /** Of the process that does the work, when it is not the child itself (the postmaster). */
      readonly pid?: number;
      readonly generatedAdminPassword?: string;
      /** Where the service is, as the line of one without a launcher says it. */
      readonly said?: Readonly<Record<string, string>>;
    }
  | { readonly kind: 'failed'; readonly error: ErrorData };

/** What the launcher tells `postgres-process.ts`, which ignores signals: it must outlive the services that write to it. */
export type StopMessage = { readonly kind: 'stop' };

export const isChildMessage = (message: unknown): message is ChildMessage => {
  const kind = (message as { kind?: unknown } | null)?.kind;
  return kind === 'ready' || kind === 'failed';
};
