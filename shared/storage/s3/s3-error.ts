import { readXml, textAt } from '#shared/storage/object/read-xml.ts';
import type { StoreAnswer } from '#shared/storage/object/send-request.ts';
import { StoreError } from '#shared/storage/object/store-error.ts';

/** The error of an answer of S3 or STS; HEAD has no body, so that its code is empty. */
export function s3Error({ status, body }: Pick<StoreAnswer, 'status' | 'body'>): StoreError {
  let code = '';
  try {
    const xml = body.length === 0 ? '' : readXml(body);
    code = textAt(xml, 'Error', 'Code') ?? textAt(xml, 'ErrorResponse', 'Error', 'Code') ?? '';
  } catch {
    // A proxy's page is no XML.
  }
  return new StoreError(status, code);
}
