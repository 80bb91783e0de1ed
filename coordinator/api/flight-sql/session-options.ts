import type {
  SessionOptionValue,
  SessionOptionValueInput,
} from '#proto/generated/arrow/flight/protocol/sql/SessionOptionValue.ts';
import { SkeinError } from '#shared/error.ts';
import { schemaName } from '../../catalog-client/catalog-browser.ts';
import { setting, withoutSetting, withSetting } from '../../session/session.ts';
import { isSetting, SETTINGS, type SettingName } from '../../session/settings.ts';
import type { FlightDoor } from './flight-door.ts';
import type { SqlMessages } from './flight-messages.ts';
import { catalogChange, schemaChange, type SessionChange } from '../../session/session-place.ts';
import type { Visit } from './visit.ts';

type SetRequest = SqlMessages['SetSessionOptionsRequest'][1];
type SetResult = SqlMessages['SetSessionOptionsResult'][0];
type GetResult = SqlMessages['GetSessionOptionsResult'][0];

/** Options that one call may set. */
const OPTIONS_MAX = 100;

/** Sets `catalog`, `schema` and the settings of the session, each by itself. An option without a value has its default again. */
export async function setSessionOptions(door: FlightDoor, visit: Visit, request: SetRequest): Promise<SetResult> {
  const options = Object.entries(request.session_options).toSorted(([a], [b]) => rank(a) - rank(b));
  if (options.length > OPTIONS_MAX) {
    throw new SkeinError('INVALID_REQUEST', `a call sets at most ${OPTIONS_MAX} options`);
  }
  const errors: Record<string, { readonly value: 'INVALID_NAME' | 'INVALID_VALUE' }> = {};
  for (const [name, value] of options) {
    try {
      const change = await changeOf(door, visit, { name, text: textOf(value) });
      if (change === undefined) errors[name] = { value: 'INVALID_NAME' };
      else door.sessions.store.update(visit.session, change);
    } catch (error) {
      if (!INVALID.has(SkeinError.of(error).code)) throw error;
      errors[name] = { value: 'INVALID_VALUE' };
    }
  }
  return { errors };
}

/** The catalog and schema in force, and every setting. */
export async function getSessionOptions(door: FlightDoor, visit: Visit): Promise<GetResult> {
  const state = door.sessions.store.get(visit.session);
  const { catalog, schema } = await door.sessions.names.current(visit.caller, state);
  const names = Object.keys(SETTINGS) as SettingName[];
  const settings = names.map((name) => [name, textValue(setting(state, name, door.config))] as const);
  return {
    session_options: {
      catalog: textValue(catalog),
      schema: textValue(schemaName(schema)),
      ...Object.fromEntries(settings),
    },
  };
}

/** The catalog is set before the schema, which is looked for in it. */
const rank = (name: string): number => (name === 'catalog' ? 0 : 1);

const INVALID: ReadonlySet<string> = new Set(['INVALID_REQUEST', 'CATALOG_NOT_FOUND', 'SCHEMA_NOT_FOUND']);

/** The change of a session that an option makes; undefined when there is no such option. `text` null = the default. */
async function changeOf(
  { sessions, config }: FlightDoor,
  visit: Visit,
  { name, text }: { readonly name: string; readonly text: string | null },
): Promise<SessionChange | undefined> {
  switch (name) {
    case 'catalog':
      return catalogChange(sessions, visit, text);
    case 'schema':
      return schemaChange(sessions, visit, text);
    default:
      if (!isSetting(name)) return undefined;
      return text === null ? (now) => withoutSetting(now, name) : (now) => withSetting(now, name, text, config);
  }
}

/** A value as a text, whatever its type, as the specification recommends; null for none. */
function textOf(value: SessionOptionValue): string | null {
  const { option_value: kind } = value;
  if (kind === undefined) return null;
  const given = value[kind];
  return typeof given === 'object' ? (given?.values ?? []).join(',') : String(given);
}

const textValue = (text: string): SessionOptionValueInput => ({ string_value: text });
