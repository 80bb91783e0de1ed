/** How an answer with a file of a stage says that it is bytes for a file, whatever type its writer has given it: no browser shows it as a page. */

export const BYTES_TYPE = 'application/octet-stream';

/** The header `content-disposition` for a file of this path. */
export const attachmentOf = (path: string): string =>
  `attachment; filename*=UTF-8''${headerText(path.slice(path.lastIndexOf('/') + 1))}`;

/** A text as a parameter of a header has it (RFC 5987), in which fewer characters stand for themselves than in a URL. */
const headerText = (text: string): string =>
  encodeURIComponent(text).replaceAll(/['()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
