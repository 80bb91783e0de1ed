import type { ReactNode } from 'react';
import { PARAMETER_TYPES } from '../runs/parameters.ts';
import type { ParameterValue } from '../tabs/tab-record.ts';

type Props = {
  readonly names: readonly string[];
  readonly values: Readonly<Record<string, ParameterValue>>;
  readonly onChange: (values: Readonly<Record<string, ParameterValue>>) => void;
};

const EMPTY: ParameterValue = { type: 'auto', value: '', isNull: false };

/** A field for each parameter of the statement. */
export function ParameterFields({ names, values, onChange }: Props): ReactNode {
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
                <option key={type}>{type}</option>
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
