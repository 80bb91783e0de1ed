import { PAGE_ROWS_MAX } from '#shared/principal/principal-request.ts';
import { takeLike } from '../like.ts';
import { principalRows } from './principal-command.ts';

/** Rows of `SHOW AUDIT LOG` without LIMIT. */
const ROWS = 50;

/** `SHOW AUDIT LOG [LIKE 'event'] [LIMIT n]`: the newest first */
export const showAuditLog = principalRows({
  words: ['SHOW AUDIT LOG'],
  parse(reader) {
    reader.words(3);
    const like = takeLike(reader);
    const limit = reader.takeWord('LIMIT') ? Number(reader.takeNumber() ?? Number.NaN) : ROWS;
    if (!Number.isInteger(limit) || limit < 1 || limit >= PAGE_ROWS_MAX) {
      throw reader.error('SYNTAX_ERROR', `LIMIT is 1 to ${PAGE_ROWS_MAX - 1}`);
    }
    reader.end();
    return { kind: 'show_audit_log', like, after: null, limit };
  },
});
