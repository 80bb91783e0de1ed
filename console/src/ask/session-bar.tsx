import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { BrowsedPage, SessionEntry } from '#coordinator/api/browse/browse-operations.ts';
import { callJson, type ApiError } from '../api/call.ts';
import { useStore } from '../app/store.ts';
import { quotePath } from '../editor/quote-name.ts';
import type { TabRecord } from '../tabs/tab-record.ts';
import type { AskState } from './ask-state.ts';

type Props = { readonly ask: AskState; readonly tab: TabRecord; readonly isRunning: boolean };

const CLASS_SETTING = 'service.workload_class';
const CLASSES = ['auto', 'interactive', 'medium', 'batch'] as const;
/** Names that a picker offers; the tree has the others. */
const NAMES_MAX = 1_000;

const useNames = (place: string, isWanted: boolean): readonly string[] => {
  const { data } = useQuery<BrowsedPage, ApiError>({
    queryKey: ['names', place],
    queryFn: () => callJson(`/api/objects?limit=${NAMES_MAX}${place}`),
    enabled: isWanted,
    staleTime: 30_000,
  });
  return data?.objects.map(({ name }) => name) ?? [];
};

/** The session of a tab: catalog, schema and class to choose, and the transaction that is open. */
export function SessionBar({ ask, tab, isRunning }: Props): ReactNode {
  const ends = useStore(ask.ends, (count) => count);
  const { data: session } = useQuery<SessionEntry, ApiError>({
    queryKey: ['session', tab.session, ends],
    queryFn: () => callJson('/api/session', { headers: { 'x-skein-session': tab.session } }),
    placeholderData: (before, query) => (query?.queryKey[1] === tab.session ? before : undefined),
  });
  const catalogs = useNames('', true);
  const schemas = useNames(`&catalog=${encodeURIComponent(session?.catalog ?? '')}`, (session?.catalog ?? '') !== '');
  const run = (sql: string): void => void ask.runs.run(tab, [{ sql, offset: null }]);
  if (session === undefined) return null;
  const { catalog, schema, settings, transaction } = session;
  const workClass = settings.find(({ name }) => name === CLASS_SETTING)?.value ?? 'auto';
  return (
    <>
      <Picker
        label="Catalog"
        value={catalog}
        choices={catalogs}
        isOff={isRunning}
        onChoose={(name) => run(`USE CATALOG ${quotePath(null, null, name)}`)}
      />
      <Picker
        label="Schema"
        value={schema}
        choices={schemas}
        isOff={isRunning}
        onChoose={(name) => run(`USE ${quotePath(catalog, name, null)}`)}
      />
      <Picker
        label="Class"
        value={workClass}
        choices={CLASSES}
        isOff={isRunning}
        onChoose={(name) => run(`SET ${CLASS_SETTING} = '${name}'`)}
      />
      {transaction === null ? null : (
        <span className="row transaction" role="group" aria-label="Transaction">
          <strong>{transaction.state === 'failed' ? 'Transaction failed' : 'Transaction open'}</strong>
          <button type="button" disabled={isRunning || transaction.state === 'failed'} onClick={() => run('COMMIT')}>
            Commit
          </button>
          <button type="button" disabled={isRunning} onClick={() => run('ROLLBACK')}>
            Roll back
          </button>
        </span>
      )}
    </>
  );
}

type PickerProps = {
  readonly label: string;
  readonly value: string;
  readonly choices: readonly string[];
  readonly isOff: boolean;
  readonly onChoose: (choice: string) => void;
};

function Picker({ label, value, choices, isOff, onChoose }: PickerProps): ReactNode {
  return (
    <label className="row">
      {label}
      <select value={value} disabled={isOff} onChange={({ target }) => onChoose(target.value)}>
        {(choices.includes(value) ? choices : [value, ...choices]).map((choice) => (
          <option key={choice}>{choice}</option>
        ))}
      </select>
    </label>
  );
}
