import type { Config } from '#shared/config/config-schema.ts';
import { shownSetting, type SessionState } from '../../../session/session.ts';
import { parameterStatus } from '../message/server-messages.ts';

/** Settings that clients are told, by Postgres' spelling: those that can change. */
const REPORTED = ['TimeZone', 'application_name', 'search_path', 'default_transaction_read_only'] as const;

/** Longest name of a program, in characters, that is kept with its statements. */
const SOURCE_MAX = 200;

/** The settings of a session as its client was told them. */
export class ReportedSettings {
  readonly #told = new Map<string, string>();

  /** The messages about settings that the client has not been told, or that have changed. */
  changed(state: SessionState, config: Config): readonly Buffer[] {
    return REPORTED.flatMap((name) => {
      const value = shownSetting(state, name, config);
      if (this.#told.get(name) === value) return [];
      this.#told.set(name, value);
      return [parameterStatus(name, value)];
    });
  }
}

/** The program that a client is, as it names itself; null = it does not. */
export function programOf(state: SessionState, config: Config): string | null {
  const name = shownSetting(state, 'application_name', config);
  return name === '' ? null : name.slice(0, SOURCE_MAX);
}
