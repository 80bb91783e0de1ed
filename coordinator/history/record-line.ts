import type { HistoryRow } from './history-record.ts';

/** A record as Postgres gets it. */
export type PrintedRecord = {
  readonly recordId: string;
  /** Its row of `coordinator.query_history`, as JSON. */
  readonly row: Buffer;
  /** How its statement's queries ran, as JSON; null = nothing is kept of it. */
  readonly profile: string | null;
};

/** A line of the journal: `{"record":...,"profile":...}`. */
export type RecordLine = PrintedRecord & { readonly line: Buffer };

const HEAD = '{"record":';

export function printRecord({ profile, ...row }: HistoryRow): RecordLine {
  // A Date among the values would cost as much as all others.
  const times = {
    queued_at: isoTime(row.queued_at),
    started_at: isoTime(row.started_at),
    ended_at: isoTime(row.ended_at),
  };
  const record = JSON.stringify({ ...row, ...times });
  // The profile is JSON, and stays as it is.
  const line = Buffer.from(`${HEAD}${record},"profile":${profile ?? 'null'}}\n`);
  const end = HEAD.length + Buffer.byteLength(record);
  return { recordId: row.record_id, row: line.subarray(HEAD.length, end), profile, line };
}

const isoTime = (time: Date | null): string | null => time?.toISOString() ?? null;

/** Reads a line of the journal; undefined for one that was cut by the end of the disk's room. */
export function readRecord(line: string): (PrintedRecord & Pick<HistoryRow, 'epoch'>) | undefined {
  let read: { readonly record: Omit<HistoryRow, 'profile'>; readonly profile: unknown } | HistoryRow;
  try {
    read = JSON.parse(line) as typeof read;
  } catch {
    return undefined;
  }
  // Releases before 009-profiles-in-batches wrote the row alone, with its profile as a text.
  const { record, profile } = 'record' in read ? { ...read, profile: JSON.stringify(read.profile) } : flat(read);
  return {
    recordId: record.record_id,
    row: Buffer.from(JSON.stringify(record)),
    profile: profile === 'null' ? null : profile,
    epoch: record.epoch,
  };
}

const flat = ({ profile, ...record }: HistoryRow): { record: Omit<HistoryRow, 'profile'>; profile: string | null } => ({
  record,
  profile,
});
