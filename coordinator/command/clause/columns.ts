import { checkIdentifier } from '#shared/sql/check-identifier.ts';
import type { IcebergType } from '#shared/iceberg/type.ts';
import type { StatementReader } from '../../statement/statement-reader.ts';
import type { ObjectName } from '../../statement/statement.ts';
import { takeColumnType } from './column-type.ts';
import { takeComment } from './comment.ts';
import { takeLiteral, type LiteralClause } from './literal.ts';
import { COLUMN_PARTS_MAX } from './transform.ts';

/** A column as it is declared; field ids of its type are 0. */
export type ColumnClause = {
  readonly name: string;
  readonly position: number;
  readonly type: IcebergType;
  readonly notNull: boolean;
  readonly isKey: boolean;
  readonly default: LiteralClause | null;
  readonly comment: string | null;
};

export type ColumnsClause = {
  readonly columns: readonly ColumnClause[];
  /** The columns of `PRIMARY KEY (...)`. */
  readonly key: readonly ObjectName[];
};

/** Columns of one statement; a table may get more by ALTER TABLE. */
const COLUMNS_MAX = 10_000;
const KEY_COLUMNS_MAX = 32;

/** Constraints that an Iceberg table cannot record. */
const CONSTRAINTS: ReadonlySet<string> = new Set(['UNIQUE', 'CHECK', 'FOREIGN', 'REFERENCES', 'GENERATED', 'COLLATE']);

/** `(column type ..., [PRIMARY KEY (column, ...)])` @throws SYNTAX_ERROR, NOT_SUPPORTED */
export function takeColumns(reader: StatementReader): ColumnsClause {
  if (!reader.takeSymbol('(')) throw reader.expected("'('");
  const columns: ColumnClause[] = [];
  let key: readonly ObjectName[] = [];
  do {
    if (columns.length === COLUMNS_MAX) {
      throw reader.error('STATEMENT_TOO_COMPLEX', `a statement declares more than ${COLUMNS_MAX} columns`);
    }
    refuseConstraint(reader);
    if (reader.peekWord() === 'CONSTRAINT' && reader.peekWord(2) === 'PRIMARY') takeConstraintName(reader);
    if (reader.takeWords('PRIMARY', 'KEY')) key = takeKey(reader);
    else columns.push(takeColumn(reader));
  } while (reader.takeSymbol(','));
  if (!reader.takeSymbol(')')) throw reader.expected("',' or ')'");
  if (columns.length === 0) throw reader.error('SYNTAX_ERROR', 'a table has columns');
  return { columns, key };
}

/** The name of a key, which is not kept: Iceberg gives keys none. */
function takeConstraintName(reader: StatementReader): void {
  reader.takeWord('CONSTRAINT');
  if (reader.takeName() === null) throw reader.expected('the name of a key');
}

/** The columns of a PRIMARY KEY. @throws SYNTAX_ERROR */
export function takeKey(reader: StatementReader): readonly ObjectName[] {
  if (!reader.takeSymbol('(')) throw reader.expected("'('");
  const key: ObjectName[] = [];
  do {
    if (key.length === KEY_COLUMNS_MAX) {
      throw reader.error('STATEMENT_TOO_COMPLEX', `a key has more than ${KEY_COLUMNS_MAX} columns`);
    }
    key.push(reader.name('a column', COLUMN_PARTS_MAX));
  } while (reader.takeSymbol(','));
  if (!reader.takeSymbol(')')) throw reader.expected("',' or ')'");
  return key;
}

/** `name type [NOT NULL] [DEFAULT literal] [PRIMARY KEY] [COMMENT 'text']` @throws SYNTAX_ERROR, NOT_SUPPORTED */
function takeColumn(reader: StatementReader): ColumnClause {
  const { position } = reader;
  const name = reader.takeName();
  if (name === null || name === '') throw reader.expected('the name of a column');
  checkIdentifier(name, position);
  return { name, position, ...takeDeclaration(reader, name) };
}

/** Reads the clauses behind the name of a new column. @throws SYNTAX_ERROR, NOT_SUPPORTED */
export function takeDeclaration(reader: StatementReader, name: string): Omit<ColumnClause, 'name' | 'position'> {
  const declaration: { -readonly [K in 'notNull' | 'isKey' | 'default' | 'comment']: ColumnClause[K] } = {
    notNull: false,
    isKey: false,
    default: null,
    comment: null,
  };
  const type = takeColumnType(reader, name);
  for (;;) {
    refuseConstraint(reader);
    if (reader.takeWords('NOT', 'NULL')) declaration.notNull = true;
    else if (reader.takeWords('PRIMARY', 'KEY')) declaration.isKey = true;
    else if (reader.takeWord('DEFAULT')) declaration.default = takeLiteral(reader, 'the default of an Iceberg column');
    else if (reader.peekWord() === 'COMMENT') declaration.comment = takeComment(reader);
    else if (!reader.takeWord('NULL')) return { type, ...declaration };
  }
}

function refuseConstraint(reader: StatementReader): void {
  const word = reader.peekWord();
  if (!CONSTRAINTS.has(word)) return;
  const isColumn = reader.peekWord(1) !== '' && word !== 'FOREIGN' && word !== 'GENERATED' && word !== 'COLLATE';
  if (!isColumn) throw reader.error('NOT_SUPPORTED', `Iceberg tables have no ${word} constraints`);
}
