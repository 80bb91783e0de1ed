import { randomUUID } from 'node:crypto';
import { isOutsideToken } from '#shared/authorization/outside-token.ts';
import { SkeinError } from '#shared/error.ts';
import type { Newcomers } from '#shared/newcomers/newcomers.ts';
import { EMPTY_SESSION } from '../../../session/session.ts';
import type { Caller } from '../../../auth/authenticate.ts';
import type { SessionKey } from '../../../session/session-store.ts';
import { catalogChange, settingChange } from '../../../session/session-place.ts';
import type { PostgresDoor } from './postgres-door.ts';
import { askForPassword, authenticated } from '../message/server-messages.ts';
import { settingsOf, type Startup } from './startup.ts';
import { protocolViolation, SessionOver, WireError } from '../message/wire-error.ts';
import type { WireReader } from '../message/wire-reader.ts';
import type { WireWriter } from '../message/wire-writer.ts';

/** A client that has signed in, and its session, which is the connection's own. */
export type Entered = {
  readonly caller: Caller;
  readonly session: SessionKey;
  /** Checks, before a statement, that its rights are as they were. @throws SessionOver, CATALOG_UNAVAILABLE */
  readonly check: () => Promise<void>;
};

/** A password may be a token. */
const PASSWORD_BYTES_MAX = 64 * 1024;
/** Names of databases that tools try first, and that no catalog needs to have. */
const DEFAULT_DATABASES: ReadonlySet<string> = new Set(['', 'postgres']);
/** Values of `replication` with which a client asks for an ordinary connection. */
const NO_REPLICATION = /^(?:off|false|no|0)$/i;
const UTF8 = /^'?(utf-?8|unicode)'?$/i;

/** Parameters of a start that are no settings, and options that are none of the engine's. */
const NO_SETTINGS: ReadonlySet<string> = new Set(['user', 'database', 'options', 'replication', 'tenant']);

/** The settings that a client sends with its start, those among its options first. */
function settingsAtStart({ parameters }: Startup): readonly (readonly [string, string])[] {
  return [...settingsOf(parameters.get('options') ?? ''), ...parameters].filter(
    ([name]) => !NO_SETTINGS.has(name) && !name.startsWith('_pq_.'),
  );
}

type Client = {
  readonly reader: WireReader;
  readonly writer: WireWriter;
  readonly startup: Startup;
  readonly address: string;
  readonly newcomers: Pick<Newcomers, 'begin' | 'signedIn'>;
  /** Address and port of the connection. */
  readonly peer: string;
};

/** Asks for the password, checks it, and opens a session; undefined when the client left. @throws SkeinError, WireError */
export async function enter(door: PostgresDoor, client: Client): Promise<Entered | undefined> {
  const { reader, writer, startup, address, newcomers, peer } = client;
  const { parameters } = startup;
  const user = parameters.get('user') ?? '';
  if (user === '') throw new WireError('28000', 'the client has named no user');
  if (!NO_REPLICATION.test(parameters.get('replication') ?? 'off')) {
    // Its commands are no SQL: each would be a syntax error.
    throw new WireError('0A000', 'replication is not served');
  }
  const encoding = parameters.get('client_encoding') ?? 'UTF8';
  if (!UTF8.test(encoding)) throw new WireError('22023', 'texts are UTF8 here: client_encoding takes nothing else');
  writer.push(askForPassword());
  await writer.flush();
  const answer = await reader.message(PASSWORD_BYTES_MAX);
  if (answer === undefined) return undefined;
  if (answer.type !== 'p') throw protocolViolation('the password did not come');
  const password = answer.body.text();
  if (password === '') throw new WireError('28P01', 'the password is empty');
  const tenant = settingsOf(parameters.get('options') ?? '').get('tenant') ?? null;
  const agent = parameters.get('application_name') ?? null;
  const end = newcomers.begin(peer);
  const { caller, token } = await door.signIn(user, password, { address, tenant, agent }).finally(end);
  newcomers.signedIn(peer);
  const session: SessionKey = {
    tenant: caller.claims.tenant,
    principal: caller.claims.sub,
    kind: 'named',
    id: randomUUID(),
  };
  const database = parameters.get('database') ?? user;
  const change = DEFAULT_DATABASES.has(database) ? null : await catalogChange(door.sessions, { caller }, database);
  // The session ends with the connection, however long it waits.
  door.sessions.store.keep(session);
  try {
    let state = change?.(EMPTY_SESSION) ?? EMPTY_SESSION;
    for (const [name, value] of settingsAtStart(startup)) {
      const asking = { caller, state, config: door.config };
      state = (await settingChange(door.sessions, asking, { name, value, scope: 'initial' }))(state);
    }
    door.sessions.store.update(session, () => state);
  } catch (error) {
    door.sessions.store.end(session);
    throw error;
  }
  writer.push(authenticated());
  // A password outlives the token that was given for it; who has shown a token, of ours or of an identity provider, ends with it.
  const isToken = token === password || isOutsideToken(password);
  const check = async (): Promise<void> => {
    const standby = door.standby();
    if (standby !== undefined) throw new SessionOver(standby);
    try {
      if (isToken) await door.authenticate(`Bearer ${token}`, address);
      else door.requireEpoch(caller.claims);
    } catch (thrown) {
      const error = SkeinError.of(thrown);
      throw error.code === 'UNAUTHENTICATED' ? new SessionOver(error.message) : error;
    }
  };
  return { caller, session, check };
}
