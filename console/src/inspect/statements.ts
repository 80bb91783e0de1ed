import { quoteIdentifier, quoteLiteral } from '#shared/sql/quote.ts';
import { quotePath } from '../editor/quote-name.ts';
import type { MadeStatement } from '../statement/made-statement.ts';

/** An object of a catalog by its names. The levels of a schema are joined by dots. */
export type ObjectPath = { readonly catalog: string; readonly schema: string; readonly name: string };

/** A schema's name is one name in statements, its levels joined by dots. */
const schemaPath = ({ catalog, schema }: Pick<ObjectPath, 'catalog' | 'schema'>): string =>
  [catalog, schema].map(quoteIdentifier).join('.');
export const objectPath = ({ catalog, schema, name }: ObjectPath): string => quotePath(catalog, schema, name);

const text = (value: string): string => (value === '' ? 'NULL' : quoteLiteral(value));
const one = (sql: string): MadeStatement => ({ sql });

export const createCatalog = (name: string): MadeStatement => one(`CREATE CATALOG ${quoteIdentifier(name)}`);
export const renameCatalog = (name: string, to: string): MadeStatement =>
  one(`ALTER CATALOG ${quoteIdentifier(name)} RENAME TO ${quoteIdentifier(to)}`);
export const dropCatalog = (name: string): MadeStatement => one(`DROP CATALOG ${quoteIdentifier(name)}`);
export const createSchema = (place: Pick<ObjectPath, 'catalog' | 'schema'>, comment: string): MadeStatement =>
  one(`CREATE SCHEMA ${schemaPath(place)}${comment === '' ? '' : ` COMMENT ${quoteLiteral(comment)}`}`);
export const commentOnSchema = (place: Pick<ObjectPath, 'catalog' | 'schema'>, comment: string): MadeStatement =>
  one(`COMMENT ON SCHEMA ${schemaPath(place)} IS ${text(comment)}`);
export const renameSchema = (place: Pick<ObjectPath, 'catalog' | 'schema'>, to: string): MadeStatement =>
  one(`ALTER SCHEMA ${schemaPath(place)} RENAME TO ${quoteIdentifier(to)}`);
export const dropSchema = (place: Pick<ObjectPath, 'catalog' | 'schema'>): MadeStatement =>
  one(`DROP SCHEMA ${schemaPath(place)}`);

export const createView = (path: ObjectPath, query: string): MadeStatement =>
  one(`CREATE VIEW ${objectPath(path)} AS ${query}`);
export const createStage = (path: ObjectPath, comment: string): MadeStatement =>
  one(`CREATE STAGE ${objectPath(path)}${comment === '' ? '' : ` COMMENT ${quoteLiteral(comment)}`}`);
export const renameStage = (path: ObjectPath, to: string): MadeStatement =>
  one(`ALTER STAGE ${objectPath(path)} RENAME TO ${quoteIdentifier(to)}`);
export const dropStage = (path: ObjectPath): MadeStatement => one(`DROP STAGE ${objectPath(path)}`);

export type Relation = 'TABLE' | 'VIEW' | 'MATERIALIZED VIEW';
export const renameRelation = (kind: Relation, path: ObjectPath, to: string): MadeStatement =>
  one(`ALTER ${kind} ${objectPath(path)} RENAME TO ${quoteIdentifier(to)}`);
export const commentOn = (kind: Relation, path: ObjectPath, comment: string): MadeStatement =>
  one(`COMMENT ON ${kind} ${objectPath(path)} IS ${text(comment)}`);
export const dropRelation = (kind: Relation, path: ObjectPath): MadeStatement =>
  one(`DROP ${kind} ${objectPath(path)}`);
export const commentOnColumn = (path: ObjectPath, column: readonly string[], comment: string): MadeStatement =>
  one(`COMMENT ON COLUMN ${[objectPath(path), ...column.map(quoteIdentifier)].join('.')} IS ${text(comment)}`);
export const renameColumn = (path: ObjectPath, column: readonly string[], to: string): MadeStatement =>
  one(
    `ALTER TABLE ${objectPath(path)} RENAME COLUMN ${column.map(quoteIdentifier).join('.')} TO ${quoteIdentifier(to)}`,
  );
export const dropColumn = (path: ObjectPath, column: readonly string[]): MadeStatement =>
  one(`ALTER TABLE ${objectPath(path)} DROP COLUMN ${column.map(quoteIdentifier).join('.')}`);
export const addColumn = (path: ObjectPath, name: string, type: string, comment: string): MadeStatement =>
  one(
    `ALTER TABLE ${objectPath(path)} ADD COLUMN ${quoteIdentifier(name)} ${type}${comment === '' ? '' : ` COMMENT ${quoteLiteral(comment)}`}`,
  );
export const setProperty = (path: ObjectPath, name: string, value: string): MadeStatement =>
  one(`ALTER TABLE ${objectPath(path)} SET PROPERTIES (${quoteLiteral(name)} = ${quoteLiteral(value)})`);
export const unsetProperty = (path: ObjectPath, name: string): MadeStatement =>
  one(`ALTER TABLE ${objectPath(path)} UNSET PROPERTIES (${quoteLiteral(name)})`);

export type RefKind = 'TAG' | 'BRANCH';
export const createRef = (
  kind: RefKind,
  path: ObjectPath,
  name: string,
  snapshot: string,
  days: string,
): MadeStatement =>
  one(
    `ALTER TABLE ${objectPath(path)} CREATE ${kind} ${quoteIdentifier(name)} AS OF VERSION ${snapshot}${days === '' ? '' : ` RETAIN ${days} DAYS`}`,
  );
export const dropRef = (kind: RefKind, path: ObjectPath, name: string): MadeStatement =>
  one(`ALTER TABLE ${objectPath(path)} DROP ${kind} ${quoteIdentifier(name)}`);
export const rollBack = (path: ObjectPath, snapshot: string): MadeStatement =>
  one(`ALTER TABLE ${objectPath(path)} EXECUTE rollback_to_snapshot(${snapshot})`);
export const queryAsOf = (path: ObjectPath, snapshot: string): string =>
  `SELECT * FROM ${objectPath(path)} FOR VERSION AS OF ${snapshot} LIMIT 100`;
export const firstRows = (path: ObjectPath): MadeStatement => one(`SELECT * FROM ${objectPath(path)} LIMIT 100`);
export const showCreate = (kind: Relation, path: ObjectPath): MadeStatement =>
  one(`SHOW CREATE ${kind} ${objectPath(path)}`);
export const refresh = (path: ObjectPath): MadeStatement => one(`REFRESH MATERIALIZED VIEW ${objectPath(path)}`);
export const explainRefresh = (path: ObjectPath): MadeStatement =>
  one(`EXPLAIN REFRESH MATERIALIZED VIEW ${objectPath(path)}`);
export const columnStatistics = (path: ObjectPath, column: string): MadeStatement => {
  const name = quoteIdentifier(column);
  return one(
    `SELECT count(*) AS "rows", count(*) - count(${name}) AS "nulls", approx_count_distinct(${name}) AS "distinct", min(${name}) AS "least", max(${name}) AS "greatest" FROM ${objectPath(path)}`,
  );
};

/** A maintenance procedure, with `dry_run` where nothing shall change. */
export const maintain = (path: ObjectPath, procedure: string, isDry: boolean): MadeStatement =>
  one(`ALTER TABLE ${objectPath(path)} EXECUTE ${procedure}${isDry ? '(dry_run => true)' : ''}`);

/** @param to another name, or '' */
export const undropTable = (path: ObjectPath, to: string): MadeStatement =>
  one(`UNDROP TABLE ${objectPath(path)}${to === '' ? '' : ` AS ${objectPath({ ...path, name: to })}`}`);
export const removeFile = (stage: ObjectPath, file: string): MadeStatement =>
  one(`REMOVE ${quoteLiteral(`@${objectPath(stage)}/${file}`)}`);
export const listFiles = (stage: ObjectPath): MadeStatement => one(`LIST @${objectPath(stage)}`);
