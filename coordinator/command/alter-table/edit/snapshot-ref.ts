import { SkeinError } from '#shared/error.ts';
import type { SnapshotRef } from '#shared/iceberg/table-metadata.ts';
import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import type { TimeTravel } from '../../../binding/query-references.ts';
import { travelTo } from '../../../resolver/travel-to.ts';
import type { StatementReader } from '../../../statement/statement-reader.ts';
import { takeIfExists, takeIfNotExists } from '../../clause/exists.ts';
import type { Edit } from '../edit.ts';

type Type = SnapshotRef['type'];
type Named = { readonly type: Type; readonly name: string; readonly position: number };
type CreateRef = Named & {
  readonly exists: 'fail' | 'keep' | 'replace';
  /** Null = the current snapshot. */
  readonly version: TimeTravel | null;
  readonly retainMs: number | null;
};

const UNIT_MS: Readonly<Record<string, number>> = { DAY: 86_400_000, HOUR: 3_600_000, MINUTE: 60_000 };
/** Longest time, in days, that a branch or tag can be kept by age. */
const RETAIN_DAYS_MAX = 1_000_000;

/** `CREATE [OR REPLACE] BRANCH | TAG [IF NOT EXISTS] name [AS OF VERSION id | 'name'] [RETAIN n DAYS]` */
export const createRef: Edit<CreateRef> = {
  words: ['CREATE BRANCH', 'CREATE TAG', 'CREATE OR REPLACE BRANCH', 'CREATE OR REPLACE TAG'],
  parse(reader) {
    reader.word();
    const isReplaced = reader.takeWords('OR', 'REPLACE');
    const type = takeType(reader);
    const isKept = takeIfNotExists(reader);
    if (isReplaced && isKept) throw reader.error('SYNTAX_ERROR', 'OR REPLACE and IF NOT EXISTS exclude each other');
    const named = takeRefName(reader, type);
    const version = reader.takeWords('AS', 'OF', 'VERSION') ? takeVersion(reader) : null;
    const retainMs = reader.takeWord('RETAIN') ? takeAge(reader) : null;
    return { ...named, exists: isReplaced ? 'replace' : isKept ? 'keep' : 'fail', version, retainMs };
  },
  apply(draft, { type, name, position, exists, version, retainMs }) {
    const known = draft.refs.get(name);
    if (known !== undefined && exists === 'keep' && known.type === type) return draft;
    if (known !== undefined && (exists !== 'replace' || known.type !== type)) {
      throw new SkeinError('ALREADY_EXISTS', `the table has a ${known.type} ${name} already`, { position });
    }
    refuseMain(name, position);
    const { snapshot } = travelTo(draft.base, version, 'the table');
    if (snapshot === null) throw new SkeinError('SNAPSHOT_NOT_FOUND', 'the table has no snapshot yet', { position });
    const ref: SnapshotRef = {
      snapshotId: snapshot.snapshotId,
      type,
      retention: retainMs === null ? {} : { 'max-ref-age-ms': retainMs },
    };
    return { ...draft, refs: new Map([...draft.refs, [name, ref]]) };
  },
};

/** `DROP BRANCH | TAG [IF EXISTS] name` */
export const dropRef: Edit<Named & { readonly ifExists: boolean }> = {
  words: ['DROP BRANCH', 'DROP TAG'],
  // DROP tag: a column of that name.
  begins: (reader) => !reader.atEnd(2) && !reader.peekSymbol(',', 2) && !reader.peekSymbol('.', 2),
  parse(reader) {
    reader.word();
    const type = takeType(reader);
    const ifExists = takeIfExists(reader);
    return { ...takeRefName(reader, type), ifExists };
  },
  apply(draft, { type, name, position, ifExists }) {
    if (draft.refs.get(name)?.type !== type) {
      if (ifExists) return draft;
      throw new SkeinError('SNAPSHOT_NOT_FOUND', `the table has no ${type} ${name}`, { position });
    }
    refuseMain(name, position);
    return { ...draft, refs: new Map([...draft.refs].filter(([other]) => other !== name)) };
  },
};

const takeType = (reader: StatementReader): Type => (reader.word() === 'TAG' ? 'tag' : 'branch');

function takeRefName(reader: StatementReader, type: Type): Named {
  const { position } = reader;
  const name = reader.takeName() ?? reader.takeString();
  if (name === null || name === '') throw reader.expected(`the name of a ${type}`);
  checkIdentifier(name, position);
  return { type, name, position };
}

function takeVersion(reader: StatementReader): TimeTravel {
  const place = { location: reader.position, isLiteral: true };
  const number = reader.takeNumber();
  if (number !== null) return { kind: 'snapshot', snapshotId: number, ...place };
  const ref = reader.takeString();
  if (ref === null) throw reader.expected('a snapshot id, or the name of a branch or tag in quotes');
  return { kind: 'ref', ref, ...place };
}

function takeAge(reader: StatementReader): number {
  const { position } = reader;
  const count = Number(reader.takeNumber() ?? Number.NaN);
  if (!Number.isSafeInteger(count) || count <= 0) throw reader.expected('a number of days');
  const unit = UNIT_MS[reader.peekWord().replace(/S$/, '')];
  if (unit === undefined) throw reader.expected('DAYS, HOURS or MINUTES');
  reader.word();
  const max = RETAIN_DAYS_MAX * 86_400_000;
  if (count * unit <= max) return count * unit;
  throw new SkeinError('INVALID_ARGUMENT', `RETAIN is at most ${RETAIN_DAYS_MAX} days`, { position });
}

function refuseMain(name: string, position: number): void {
  if (name !== 'main') return;
  throw new SkeinError('NOT_SUPPORTED', 'main is the table itself: it cannot be made or dropped', { position });
}
