import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { DescribedEntry } from '#coordinator/api/browse/browse-operations.ts';
import { callJson, type ApiError } from '../api/call.ts';
import { PARAMETER_TYPES } from '../runs/parameters.ts';
import type { ParameterValue } from '../tabs/tab-record.ts';

type Props = {
  readonly names: readonly string[];
  /** The statement that has them, when it is one; the server says of which types they are. */
  readonly sql: string | null;
  readonly session: string;
  readonly values: Readonly<Record<string, ParameterValue>>;
  readonly onChange: (values: Readonly<Record<string, ParameterValue>>) => void;
};

const EMPTY: ParameterValue = { type: 'auto', value: '', isNull: false };

/** A field for each parameter of the statement. */
export function ParameterFields({ names, sql, session, values, onChange }: Props): ReactNode {
  const types = useTypes(sql, session);
  return (
    <fieldset className="parameters">
      <legend>Parameters</legend>
      {names.map((name) => {
        const value = values[name] ?? EMPTY;
        const change = (part: Partial<ParameterValue>): void => onChange({ ...values, [name]: { ...value, ...part } });
        return (
          <div key={name} className="bar">
            <label>
              ${name}
              <input
                value={value.value}
                disabled={value.isNull}
                onChange={({ target }) => change({ value: target.value })}
              />
            </label>
            <select
              aria-label={`Type of ${name}`}
              value={value.type}
              onChange={({ target }) => change({ type: target.value })}
            >
              {PARAMETER_TYPES.map((type) => (
                <option key={type} value={type}>
                  {type === 'auto' && types.has(name) ? `auto (${types.get(name) ?? ''})` : type}
                </option>
              ))}
            </select>
            <label className="row">
              <input
                type="checkbox"
                checked={value.isNull}
                onChange={({ target }) => change({ isNull: target.checked })}
              />
              NULL
            </label>
          </div>
        );
      })}
    </fieldset>
  );
}

/** Types of parameters as the server finds them; nothing runs. */
function useTypes(sql: string | null, session: string): ReadonlyMap<string, string> {
  const { data } = useQuery<DescribedEntry, ApiError>({
    queryKey: ['describe', session, sql],
    queryFn: () =>
      callJson('/api/describe', { method: 'POST', body: { sql }, headers: { 'x-skein-session': session } }),
    enabled: sql !== null,
    staleTime: 60_000,
  });
  return new Map(data?.parameters.map(({ name, type }) => [name, type]));
}
