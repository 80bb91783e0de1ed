import type { SessionKey } from '../session/session-store.ts';
import { ownValue, setting } from '../session/session.ts';
import { SETTINGS, type SettingName } from '../session/settings.ts';
import type { SessionView } from './query-service.ts';
import type { RunnerServices } from './runner-services.ts';

/** A session as its client looks at it. */
export function viewSession(
  { sessions, transactions, config }: Pick<RunnerServices, 'sessions' | 'transactions' | 'config'>,
  key: SessionKey,
): SessionView {
  const state = sessions.store.get(key);
  const found = transactions.find(key);
  return {
    role: state.role,
    settings: (Object.keys(SETTINGS) as SettingName[]).map((name) => ({
      name,
      value: setting(state, name, config),
      isSet: ownValue(state, name) !== undefined,
    })),
    transaction: found === undefined ? null : { state: found.hasFailed ? 'failed' : 'open', mayWrite: found.mayWrite },
  };
}
