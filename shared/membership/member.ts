/** A process of the cluster as other processes see it. */
export type Member = {
  readonly kind: 'worker' | 'coordinator' | 'catalog';
  /** Unique per process start. */
  readonly id: string;
  /** Name for people; stable over restarts. */
  readonly name: string;
  /** `host:port` of its internal gRPC; of a coordinator, which has none, of its HTTP API. */
  readonly address: string;
  /** `host:port` of the calls of `member.proto`, where that is not `address`. */
  readonly internal?: string;
};

/** Lists the live members. The list may be out of date by a lease's time to live: callers must check whether a member answers. */
export interface Membership {
  /** Calls `onChange` with all members of the kind, soon and after every change, never twice in a row with the same list. */
  watch(kind: Member['kind'], onChange: (members: readonly Member[]) => void): void;
  close(): Promise<void>;
}

/** Parses a member's text from etcd; undefined when it is not a member of the kind. */
export function parseMember(text: string, kind: Member['kind']): Member | undefined {
  let read: Partial<Record<keyof Member, unknown>> | null;
  try {
    read = JSON.parse(text) as typeof read;
  } catch {
    return undefined;
  }
  const { id, name, address, internal } = read ?? {};
  if (read?.kind !== kind || typeof id !== 'string' || typeof name !== 'string' || typeof address !== 'string') {
    return undefined;
  }
  return { kind, id, name, address, ...(typeof internal === 'string' ? { internal } : {}) };
}

/** Returns `host:port` of `http://host:port/`, `grpc://host:port` or `host:port`. */
export const memberAddress = (url: string): string =>
  url
    .trim()
    .replace(/^[a-z+]+:\/\//i, '')
    .replace(/(?<!\/)\/+$/, '');
