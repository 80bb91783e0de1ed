/**
 * Every action that a principal may be allowed or refused, by the kind of object that it acts on. REST operations and SQL statements both
 * name the action that they amount to, and the catalog decides (`catalog/authorization`).
 */
export const ACTIONS = {
  'catalog.resolve': 'find a catalog by its name, for a statement that names it or starts in it',
  'catalog.list': 'list the catalogs of the tenant',
  'catalog.describe': 'load the metadata of a catalog',
  'catalog.use': 'make a catalog the current one of a session',
  'catalog.create': 'create a catalog',
  'catalog.rename': 'rename a catalog, and with it all that it holds',
  'catalog.drop': 'drop a catalog',

  'schema.resolve': 'find a schema by its name, for a statement that names it',
  'schema.list': 'list the schemas of a catalog',
  'schema.describe': 'load the properties of a schema',
  'schema.use': 'make a schema the current one of a session',
  'schema.create': 'create a schema',
  'schema.alter': 'change the properties of a schema',
  'schema.rename': 'rename a schema, and with it the tables and views that it holds',
  'schema.drop': 'drop a schema',

  'table.list': 'list the tables of a schema, those included that were dropped and can be had back',
  'table.describe': 'load the metadata of a table',
  'table.select': 'read rows of a table: query it, plan a scan of it',
  'table.read_files': 'get a key that reads the files of a table, or have requests signed that do',
  'table.write_files': 'get a key that also writes the files of a table, or have requests signed that do',
  'table.create': 'create, register or undrop a table',
  'table.commit': 'change the rows or the metadata of a table',
  'table.rename': 'rename a table, into another schema too',
  'table.drop': 'drop a table or take it out of the catalog',

  'view.list': 'list the views of a schema',
  'view.describe': 'load a view',
  'view.create': 'create or register a view',
  'view.replace': 'replace the definition of a view',
  'view.rename': 'rename a view, into another schema too',
  'view.drop': 'drop a view',

  'function.list': 'list the functions of a schema',
  'function.describe': 'load a function',
  'function.create': 'create a function',
  'function.drop': 'drop a function',

  'stage.list': 'list the stages of a schema',
  'stage.read': 'list and read the files of a stage',
  'stage.write': 'put files into a stage, and remove them',
  'stage.create': 'create a stage',
  'stage.rename': 'rename a stage, into another schema too',
  'stage.drop': 'drop a stage and its files',

  'query.read': 'list the own statements that wait or run now, and read the records of those that ended',
  'query.stop': 'cancel an own statement',
  'query.list': 'list the statements of other principals of the tenant as well, and read their records',
  'query.cancel': 'cancel a statement of another principal of the tenant',

  'stats.read': 'see the resource groups, the queues and the workers, and their events',

  'quarantine.list': 'list the statements that are refused because they have cost a worker its process',
  'quarantine.lift': 'take such statements again',
} as const;

export type Action = keyof typeof ACTIONS;

/** The kinds of objects that actions apply to. */
type ObjectKind = Action extends `${infer Kind}.${string}` ? Kind : never;

export const isAction = (text: string): text is Action => Object.hasOwn(ACTIONS, text);

/** All actions, in the order of `ACTIONS`. */
export const ALL_ACTIONS = Object.keys(ACTIONS) as readonly Action[];

/** The actions on objects of a kind. */
export const actionsOn = (kind: ObjectKind): readonly Action[] =>
  ALL_ACTIONS.filter((action) => action.startsWith(`${kind}.`));

/** Whether an action is allowed; the reason is the message of the error FORBIDDEN. */
export type Decision = { readonly allowed: true } | { readonly allowed: false; readonly reason: string };
