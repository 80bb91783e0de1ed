import type { ReactNode } from 'react';
import { printBytes, printCount } from '../app/print-figures.ts';

/** The words for what a policy hides, which is not nothing. */
export const HIDDEN = 'hidden by a policy';

type Props = { readonly value: number | null | undefined; readonly isHidden: boolean };

/** A count; what nobody has told is not 0. */
export const Count = ({ value, isHidden }: Props): ReactNode =>
  isHidden ? (
    <span className="quiet">{HIDDEN}</span>
  ) : value === null || value === undefined ? (
    'not told'
  ) : (
    printCount(value)
  );

export const Bytes = ({ value, isHidden }: Props): ReactNode =>
  isHidden ? (
    <span className="quiet">{HIDDEN}</span>
  ) : value === null || value === undefined ? (
    'not told'
  ) : (
    printBytes(value)
  );
