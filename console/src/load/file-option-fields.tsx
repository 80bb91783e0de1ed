import type { ReactNode } from 'react';
import type { FileOptions, FileType } from './load-statements.ts';

const TYPES: readonly FileType[] = ['CSV', 'JSON', 'PARQUET'];
const DELIMITERS: readonly (readonly [text: string, name: string])[] = [
  [',', 'comma'],
  [';', 'semicolon'],
  ['\t', 'tab'],
  ['|', 'bar'],
];

type Props = { readonly options: FileOptions; readonly onChange: (options: FileOptions) => void };

/** How the file is read, named as in SQL. */
export function FileOptionFields({ options, onChange }: Props): ReactNode {
  const { type, delimiter, hasHeader, isArray } = options;
  return (
    <form onSubmit={(event) => event.preventDefault()} aria-label="File format">
      <label>
        TYPE
        <select
          value={type}
          onChange={({ target }) => onChange({ ...options, type: TYPES[target.selectedIndex] ?? 'CSV' })}
        >
          {TYPES.map((one) => (
            <option key={one}>{one}</option>
          ))}
        </select>
      </label>
      {type === 'CSV' ? (
        <>
          <label>
            FIELD_DELIMITER
            <select value={delimiter} onChange={({ target }) => onChange({ ...options, delimiter: target.value })}>
              {DELIMITERS.map(([text, name]) => (
                <option key={name} value={text}>
                  {name}
                </option>
              ))}
            </select>
          </label>
          <label className="flag">
            <input
              type="checkbox"
              checked={hasHeader}
              onChange={({ target }) => onChange({ ...options, hasHeader: target.checked })}
            />
            PARSE_HEADER
          </label>
        </>
      ) : null}
      {type === 'JSON' ? (
        <label className="flag">
          <input
            type="checkbox"
            checked={isArray}
            onChange={({ target }) => onChange({ ...options, isArray: target.checked })}
          />
          STRIP_OUTER_ARRAY
        </label>
      ) : null}
    </form>
  );
}
