import { useState, type ReactNode } from 'react';
import { useLocation } from 'wouter';
import type { MadeStatement, StatementAnswer } from './made-statement.ts';
import { StatementPanel } from './statement-panel.tsx';

/** A field of a form, named as in SQL. */
export type Field = {
  readonly name: string;
  readonly kind: 'text' | 'lines' | 'secret' | 'number' | 'flag' | 'choice';
  readonly choices?: readonly string[];
  readonly optional?: boolean;
  readonly initial?: string;
  readonly hint?: string;
};
export type Values = Readonly<Record<string, string>>;

/** An action as a form: its fields, and the statement that they make. */
export type Action = {
  readonly title: string;
  readonly fields: readonly Field[];
  readonly make: (values: Values) => MadeStatement;
  /** The name that is asked for, of what goes away. */
  readonly danger?: string;
  readonly refusal?: string | undefined;
  /** Why a value is not taken; it never leaves the browser. */
  readonly refuse?: (values: Values) => string | undefined;
  /** Where the page goes when it has run: the object has another name, or is no more. */
  readonly leadsTo?: (values: Values) => string;
};

type Props = { readonly action: Action; readonly onDone?: (answer: StatementAnswer) => void };

/** The form of an action, with the statement below as it grows. What is typed is forgotten when the form is closed. */
export function ActionForm({ action, onDone }: Props): ReactNode {
  const { title, fields, make, danger, refusal, refuse, leadsTo } = action;
  const [, navigate] = useLocation();
  const initial = Object.fromEntries(fields.map((field) => [field.name, field.initial ?? '']));
  const [values, setValues] = useState<Values>(initial);
  const isWhole = fields.every(
    ({ name, optional, kind }) => optional === true || kind === 'flag' || values[name] !== '',
  );
  const wrong = refuse?.(values);
  return (
    <section className="form" aria-label={title}>
      <h3>{title}</h3>
      <form onSubmit={(event) => event.preventDefault()}>
        {fields.map((field) => (
          <FieldInput
            key={field.name}
            field={field}
            value={values[field.name] ?? ''}
            onChange={(value) => setValues((now) => ({ ...now, [field.name]: value }))}
          />
        ))}
      </form>
      {wrong === undefined ? null : <p role="alert">{wrong}</p>}
      <StatementPanel
        made={isWhole && wrong === undefined ? make(values) : null}
        refusal={refusal}
        {...(danger === undefined ? {} : { danger })}
        onDone={(answer) => {
          // No secret stays in a field.
          setValues((now) => ({
            ...now,
            ...Object.fromEntries(fields.filter(({ kind }) => kind === 'secret').map(({ name }) => [name, ''])),
          }));
          onDone?.(answer);
          if (leadsTo !== undefined) navigate(leadsTo(values), { replace: true });
        }}
      />
    </section>
  );
}

type InputProps = { readonly field: Field; readonly value: string; readonly onChange: (value: string) => void };

function FieldInput({ field, value, onChange }: InputProps): ReactNode {
  const { name, kind, choices = [], optional, hint } = field;
  const label = `${name}${optional === true ? ' (optional)' : ''}`;
  if (kind === 'flag') {
    return (
      <label className="flag">
        <input type="checkbox" checked={value === 'true'} onChange={({ target }) => onChange(String(target.checked))} />
        {name}
      </label>
    );
  }
  return (
    <label>
      {label}
      {kind === 'choice' ? (
        <select value={value} onChange={({ target }) => onChange(target.value)}>
          {optional === true ? <option value="" /> : null}
          {choices.map((choice) => (
            <option key={choice}>{choice}</option>
          ))}
        </select>
      ) : kind === 'lines' ? (
        <textarea rows={6} value={value} spellCheck={false} onChange={({ target }) => onChange(target.value)} />
      ) : (
        <input
          type={kind === 'secret' ? 'password' : kind === 'number' ? 'number' : 'text'}
          autoComplete={kind === 'secret' ? 'new-password' : 'off'}
          value={value}
          onChange={({ target }) => onChange(target.value)}
        />
      )}
      {hint === undefined ? null : <small className="quiet">{hint}</small>}
    </label>
  );
}

/** Buttons for the actions of a page, each of which opens its form. */
export function Actions({
  actions,
  onDone,
}: {
  readonly actions: readonly Action[];
  readonly onDone?: () => void;
}): ReactNode {
  const [open, setOpen] = useState<string | null>(null);
  const chosen = actions.find(({ title }) => title === open);
  return (
    <>
      <p className="bar" role="group" aria-label="Actions">
        {actions.map(({ title }) => (
          <button
            key={title}
            type="button"
            aria-expanded={title === open}
            onClick={() => setOpen(title === open ? null : title)}
          >
            {title}
          </button>
        ))}
      </p>
      {chosen === undefined ? null : (
        <ActionForm key={chosen.title} action={chosen} {...(onDone === undefined ? {} : { onDone: () => onDone() })} />
      )}
    </>
  );
}
