import { callJson } from '../api/call.ts';
import { objectPath, type ObjectPath } from './statements.ts';

type Presigned = { readonly urls: readonly { readonly url: string }[] };

/** The stage as the API names it. */
export const stageNameOf = (stage: ObjectPath): string => `@${objectPath(stage)}`;

/** The path of a signed URL of the coordinator's, which signs its own address: that may have another name than this page has. */
export function ownPath(url: string): string {
  const { pathname, search } = new URL(url, location.href);
  return `${pathname}${search}`;
}

/** Downloads a file of a stage by a signed URL. @throws ApiError */
export async function download(stage: ObjectPath, path: string): Promise<void> {
  const body = { stage: stageNameOf(stage), files: [{ path }], method: 'GET', through: 'coordinator' };
  const { urls } = await callJson<Presigned>('/v1/stages/presign', { method: 'POST', body });
  const link = document.createElement('a');
  link.href = ownPath(urls[0]?.url ?? '');
  link.download = path.split('/').at(-1) ?? path;
  link.rel = 'noopener';
  link.target = '_blank';
  link.click();
}
