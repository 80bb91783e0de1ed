import { takeLike } from '../like.ts';
import { principalRows } from './principal-command.ts';
import { takeNewest } from './take-newest.ts';

/** `SHOW AUDIT LOG [LIKE 'event'] [LIMIT n]`: the newest first */
export const showAuditLog = principalRows({
  words: ['SHOW AUDIT LOG'],
  parse(reader) {
    reader.words(3);
    const like = takeLike(reader);
    const limit = takeNewest(reader);
    reader.end();
    return { kind: 'show_audit_log', like, after: null, limit };
  },
});
