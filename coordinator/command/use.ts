import { SkeinError } from '#shared/error.ts';
import { foldIdentifier } from '#shared/sql/fold-identifier.ts';
import { atPlace, type SessionState } from '../session/session.ts';
import type { ObjectName } from '../statement/statement.ts';
import { statusResult } from '../operation/answer.ts';
import type { Command } from './command.ts';
import type { CommandContext } from '../operation/command-context.ts';
import { noSchema, requireSchema } from './require-schema.ts';

/** `USE x` or `USE x.y` (the session decides what one part names), `USE CATALOG x`. */
type Use = { readonly name: ObjectName } | { readonly catalog: string } | UseRole;
/** Null = all roles. */
type UseRole = { readonly role: string | null; readonly position: number };

/** `USE [SCHEMA] name`, `USE CATALOG name`, `USE ROLE name | ALL` */
export const use: Command<Use> = {
  words: ['USE'],
  queryType: 'set',
  timeout: 'coordinator',
  parse(reader) {
    reader.word();
    if (reader.peekWord() === 'CATALOG' && !reader.atEnd(1) && !reader.peekSymbol('.', 1)) {
      reader.word();
      const catalog = reader.takeName();
      if (catalog === null) throw reader.expected('a catalog');
      reader.end();
      return { catalog };
    }
    if (reader.peekWord() === 'ROLE' && !reader.atEnd(1) && !reader.peekSymbol('.', 1)) {
      reader.word();
      const { position } = reader;
      const isAll = reader.takeWord('ALL');
      const role = isAll ? null : reader.takeName();
      if (!isAll && role === null) throw reader.expected('a role, or ALL');
      reader.end();
      return { role, position };
    }
    if (reader.peekWord() === 'SCHEMA' && !reader.atEnd(1) && !reader.peekSymbol('.', 1)) reader.word();
    const name = reader.name('a catalog or schema', 2);
    reader.end();
    return { name };
  },
  action: (input) => ('role' in input ? null : 'catalog' in input ? 'catalog.use' : 'schema.use'),
  async run(input, context) {
    if ('role' in input) {
      const role = grantedRole(input, context);
      context.updateSession((now) => ({ ...now, role }));
      return context.answer(statusResult('USE ROLE'));
    }
    const place = 'catalog' in input ? await catalogOf(input.catalog, context) : await placeOf(input.name, context);
    context.updateSession((now) => atPlace(now, place));
    return context.answer(statusResult('catalog' in input ? 'USE CATALOG' : 'USE'));
  },
};

/** @throws ROLE_NOT_FOUND for one that is not granted, as for one that there is not */
function grantedRole({ role, position }: UseRole, { caller }: CommandContext): string | null {
  if (role === null) return null;
  const { roles } = caller.claims;
  const found = roles.find((one) => one === role) ?? roles.find((one) => foldIdentifier(one) === foldIdentifier(role));
  if (found !== undefined || foldIdentifier(role) === 'public') return found ?? 'public';
  throw new SkeinError('ROLE_NOT_FOUND', `you have no role ${role}`, { position });
}

type Place = Partial<Pick<SessionState, 'catalog' | 'schema'>>;

const catalogOf = async (name: string, { names, caller }: CommandContext): Promise<Place> => ({
  catalog: await names.catalog(caller, name),
  schema: null,
});

/** `x` is a schema of the current catalog, or else a catalog; `x.y` is schema y of catalog x. */
async function placeOf({ parts }: ObjectName, context: CommandContext): Promise<Place> {
  const { names, session } = context;
  const { claims } = context.caller;
  const [first = '', second] = parts;
  if (second !== undefined) {
    const catalog = await names.catalog(context.caller, first);
    return { catalog, schema: await requireSchema(context, catalog, second) };
  }
  const { catalog } = await names.current(context.caller, session);
  const schema = catalog === '' ? undefined : await names.schema(claims, catalog, first);
  if (schema !== undefined) return { schema };
  const other = await names.findCatalog(claims, first);
  if (other === undefined) throw await noSchema(context, catalog, first);
  return { catalog: other, schema: null };
}
