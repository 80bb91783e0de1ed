import type { SessionState } from '../session/session.ts';
import type { ObjectName } from '../statement/statement.ts';
import { statusResult } from '../operation/answer.ts';
import type { Command } from './command.ts';
import type { CommandContext } from '../operation/command-context.ts';
import { noSchema, requireSchema } from './require-schema.ts';

/** `USE x` or `USE x.y` (the session decides what one part names), `USE CATALOG x`. */
type Use = { readonly name: ObjectName } | { readonly catalog: string };

/** `USE [SCHEMA] name`, `USE CATALOG name` */
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
    if (reader.peekWord() === 'SCHEMA' && !reader.atEnd(1) && !reader.peekSymbol('.', 1)) reader.word();
    const name = reader.name('a catalog or schema', 2);
    reader.end();
    return { name };
  },
  action: (input) => ('catalog' in input ? 'catalog.use' : 'schema.use'),
  async run(input, context) {
    const place = 'catalog' in input ? await catalogOf(input.catalog, context) : await placeOf(input.name, context);
    context.updateSession((now) => ({ ...now, ...place }));
    return context.answer(statusResult('catalog' in input ? 'USE CATALOG' : 'USE'));
  },
};

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
