import type { Config } from '#shared/config/config-schema.ts';
import { SkeinError } from '#shared/error.ts';
import type { Json } from '#shared/json.ts';
import { unreachable } from '#shared/must.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { requireScope, type Caller } from '../auth/authenticate.ts';
import { columnsOf, loadOneTable, schemaName } from '../catalog-client/catalog-browser.ts';
import type { CatalogClient } from '../catalog-client/catalog-client.ts';
import type { TableName } from '../resolver/table-source.ts';
import type { ObjectName, Statement } from '../statement/statement.ts';
import type { NameFinder } from './current-names.ts';
import { setting, withoutSetting, withSetting, type SessionState } from './session.ts';
import { matchesLike, statusResult, textResult, type SessionResult } from './session-result.ts';
import type { SessionKey, SessionStore } from './session-store.ts';
import { SETTINGS, settingName, type SettingName } from './settings.ts';
import { sqlTypeName } from './sql-type-name.ts';

/** Statements of our own grammar, those with an embedded query aside. */
export type SessionStatement = Exclude<Statement, { readonly query: unknown }>;

export type SessionServices = {
  readonly store: SessionStore;
  readonly names: NameFinder;
  readonly catalog: CatalogClient;
  readonly config: Config;
};

type Context = SessionServices & {
  readonly caller: Caller;
  readonly key: SessionKey;
  readonly signal: AbortSignal;
};

/** Runs a statement on the session and the catalog's metadata. @throws SkeinError of the catalogue. */
export async function runSessionStatement(statement: SessionStatement, context: Context): Promise<SessionResult> {
  const { store, key, config } = context;
  const state = store.get(key);
  switch (statement.kind) {
    case 'set': {
      const { name, value } = statement;
      const change = (now: SessionState): SessionState =>
        value === null ? withoutSetting(now, name) : withSetting(now, name, value, config);
      store.update(key, change);
      return statusResult('SET');
    }
    case 'reset':
      store.update(key, (now) => withoutSetting(now, statement.name));
      return statusResult('RESET');
    case 'resetAll':
      store.update(key, (now) => withoutSetting(now, null));
      return statusResult('RESET');
    case 'use':
      return use(statement.name, state, context);
    case 'useCatalog': {
      requireScope(context.caller, 'catalog:read');
      const catalog = await context.names.catalog(context.caller.claims.tenant, statement.catalog);
      store.update(key, (now) => ({ ...now, catalog, schema: null }));
      return statusResult('USE CATALOG');
    }
    case 'showCatalogs': {
      requireScope(context.caller, 'catalog:read');
      const names = await context.names.catalogs(context.caller.claims.tenant);
      return listing('catalog_name', names, statement.like);
    }
    case 'showSchemas':
      return showSchemas(statement, state, context);
    case 'showTables':
      return showTables(statement, state, context);
    case 'describeTable':
      return describeTable(statement.name, state, context);
    case 'showSetting': {
      const name = settingName(statement.name);
      return textResult([name], [[setting(state, name, config)]]);
    }
    case 'showAll': {
      const rows = (Object.keys(SETTINGS) as SettingName[]).map((name) => [
        name,
        setting(state, name, config),
        SETTINGS[name].doc,
      ]);
      return textResult(['name', 'setting', 'description'], rows);
    }
    case 'begin':
    case 'commit':
    case 'rollback':
      throw new SkeinError('NOT_SUPPORTED', 'transactions are not served');
    default:
      return unreachable(statement);
  }
}

const listing = (column: string, names: readonly string[], like: string | null): SessionResult =>
  textResult(
    [column],
    names
      .filter((name) => matchesLike(name, like))
      .toSorted()
      .map((name) => [name]),
  );

/** `USE x`: a schema of the current catalog, or else a catalog; `USE x.y`: schema y of catalog x. */
async function use(name: ObjectName, state: SessionState, context: Context): Promise<SessionResult> {
  requireScope(context.caller, 'namespace:read');
  const { names, store, key, caller } = context;
  const { tenant } = caller.claims;
  const [first = '', second] = name.parts;
  if (second !== undefined) {
    const catalog = await names.catalog(tenant, first);
    const schema = await requireSchema(context, catalog, second);
    store.update(key, (now) => ({ ...now, catalog, schema }));
    return statusResult('USE');
  }
  const { catalog } = await names.current(tenant, state);
  const schema = catalog === '' ? undefined : await names.schema(tenant, catalog, first);
  if (schema !== undefined) {
    store.update(key, (now) => ({ ...now, schema }));
    return statusResult('USE');
  }
  const other = (await names.catalogs(tenant)).find((one) => foldIdentifier(one) === foldIdentifier(first));
  if (other === undefined) throw noSchema(catalog, first);
  store.update(key, (now) => ({ ...now, catalog: other, schema: null }));
  return statusResult('USE');
}

const noSchema = (catalog: string, schema: string): SkeinError =>
  new SkeinError('SCHEMA_NOT_FOUND', `schema ${catalog === '' ? '' : `${catalog}.`}${schema} does not exist`);

async function requireSchema(context: Context, catalog: string, name: string): Promise<readonly string[]> {
  const schema = await context.names.schema(context.caller.claims.tenant, catalog, name);
  if (schema === undefined) throw noSchema(catalog, name);
  return schema;
}

async function showSchemas(
  statement: Extract<SessionStatement, { kind: 'showSchemas' }>,
  state: SessionState,
  context: Context,
): Promise<SessionResult> {
  requireScope(context.caller, 'namespace:read');
  const { tenant } = context.caller.claims;
  const catalog =
    statement.catalog === null
      ? (await context.names.current(tenant, state)).catalog
      : await context.names.catalog(tenant, statement.catalog);
  const namespaces = catalog === '' ? [] : await context.catalog.listNamespaces(tenant, catalog);
  return listing('schema_name', namespaces.map(schemaName), statement.like);
}

async function showTables(
  statement: Extract<SessionStatement, { kind: 'showTables' }>,
  state: SessionState,
  context: Context,
): Promise<SessionResult> {
  requireScope(context.caller, 'table:read');
  const { tenant } = context.caller.claims;
  const current = await context.names.current(tenant, state);
  const [first, second] = statement.schema?.parts ?? [];
  const catalog =
    second === undefined || first === undefined ? current.catalog : await context.names.catalog(tenant, first);
  if (catalog === '') throw new SkeinError('CATALOG_NOT_FOUND', 'there is no catalog');
  const wanted = second ?? first;
  const schema = wanted === undefined ? current.schema : await requireSchema(context, catalog, wanted);
  return listing('table_name', await context.catalog.listTables(tenant, catalog, schema), statement.like);
}

async function describeTable(name: ObjectName, state: SessionState, context: Context): Promise<SessionResult> {
  requireScope(context.caller, 'table:read');
  const { tenant, sub } = context.caller.claims;
  const current = await context.names.current(tenant, state);
  const table = qualify(name.parts, current.catalog, current.schema);
  const { metadata } = await loadOneTable(context.catalog.tablesFor(tenant, sub), table, context.signal);
  const rows = columnsOf(metadata).map((field) => [
    field.name,
    sqlTypeName(field.type),
    field.required ? 'NO' : 'YES',
    defaultText(field.writeDefault),
  ]);
  return describeResult(rows);
}

/** `[name, type, 'YES' | 'NO', default]` for each column. */
export const describeResult = (rows: readonly (readonly Json[])[]): SessionResult =>
  textResult(['col_name', 'data_type', 'nullable', 'default'], rows);

const defaultText = (value: Json | undefined): string | null => {
  if (value === undefined || value === null) return null;
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
};

/** A name of one to three parts as `catalog.schema.table`. */
function qualify(parts: readonly string[], catalog: string, schema: readonly string[]): TableName {
  const [first = '', second, third] = parts;
  if (third !== undefined) return { catalog: first, namespace: (second ?? '').split('.'), table: third };
  if (second !== undefined) return { catalog, namespace: first.split('.'), table: second };
  return { catalog, namespace: schema, table: first };
}
