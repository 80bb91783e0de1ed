import type { ReactNode } from 'react';
import { Link } from 'wouter';
import { addressOf } from './catalog-place.ts';

type Props = { readonly catalog?: string; readonly schema?: string; readonly name?: string; readonly kind: string };

/** The way from all catalogs to where one is, and what it is. */
export function Crumbs({ catalog, schema, name, kind }: Props): ReactNode {
  return (
    <>
      <nav aria-label="Place" className="crumbs">
        <Link href="/catalog">Catalogs</Link>
        {catalog === undefined ? null : <Link href={addressOf(catalog)}>{catalog}</Link>}
        {catalog === undefined || schema === undefined ? null : <Link href={addressOf(catalog, schema)}>{schema}</Link>}
      </nav>
      <h1>
        {name ?? schema ?? catalog ?? 'Catalogs'} <small className="quiet">{kind}</small>
      </h1>
    </>
  );
}
