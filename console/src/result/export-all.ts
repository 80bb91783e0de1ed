import { call, callJson } from '../api/call.ts';
import { ownPath } from '../inspect/stage-files.ts';
import { quoteLiteral } from '#shared/sql/quote.ts';

type Presigned = {
  readonly urls: readonly { readonly url: string; readonly headers: Readonly<Record<string, string>> }[];
};

/** Writes all rows of a query into a file of the user's own stage, and downloads it. @throws ApiError */
export async function exportAll(sql: string, session: string): Promise<void> {
  const name = `exports/${new Date().toISOString().replace(/[:.]/g, '-')}.csv`;
  const headers = { 'x-skein-session': session, 'x-skein-source': 'console' };
  const copy = `COPY INTO ${quoteLiteral(`@~/${name}`)} FROM (${sql}\n) FILE_FORMAT = (TYPE = CSV COMPRESSION = NONE) SINGLE = TRUE HEADER = TRUE`;
  await call('/api/query', { method: 'POST', body: { sql: copy }, headers });
  const { urls } = await callJson<Presigned>('/v1/stages/presign', {
    method: 'POST',
    body: { stage: '~', files: [{ path: name }], method: 'GET', through: 'coordinator' },
    headers: { 'x-skein-session': session },
  });
  const [found] = urls;
  if (found === undefined) return;
  const link = document.createElement('a');
  link.href = ownPath(found.url);
  link.download = name.slice('exports/'.length);
  link.rel = 'noopener';
  link.target = '_blank';
  link.click();
}

/** Puts a text into the user's own stage. @throws ApiError */
export async function saveQuery(name: string, text: string): Promise<void> {
  const path = `queries/${name}.sql`;
  const { urls } = await callJson<Presigned>('/v1/stages/presign', {
    method: 'POST',
    body: {
      stage: '~',
      files: [{ path, size: new TextEncoder().encode(text).length }],
      method: 'PUT',
      through: 'coordinator',
    },
  });
  const [found] = urls;
  if (found === undefined) return;
  const response = await fetch(ownPath(found.url), {
    method: 'PUT',
    body: text,
    headers: { ...found.headers, 'x-skein-console': '1' },
  });
  if (!response.ok) throw new Error(`the text was not saved: the storage answered ${response.status}`);
}
