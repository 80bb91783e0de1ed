/** Statements that leave nothing in their session, which other statements could mean. */
const PLAIN =
  /^\s*(select|with|values|from|insert|update|delete|merge|create|drop|alter|show|describe|explain|copy|optimize|refresh|comment|grant|revoke|undrop|kill|list|summarize)\b/i;

/** Whether later statements of the session may depend on a statement: on a setting, a schema, a transaction, a prepared statement. */
export const leavesState = (sql: string): boolean => !PLAIN.test(withoutComments(sql));

/** Without the comments before the first word. */
function withoutComments(sql: string): string {
  let text = sql.trimStart();
  for (;;) {
    if (text.startsWith('--')) text = text.slice(text.indexOf('\n') + 1 || text.length).trimStart();
    else if (text.startsWith('/*')) text = text.slice((text.indexOf('*/') + 1 || text.length) + 1).trimStart();
    else return text;
  }
}

/**
 * The address that a standby gives for the active coordinator, when a client may send its token there: never in plaintext when it was sent
 * encrypted before.
 */
export function followed(url: string, leader: string | undefined): string | undefined {
  if (leader === undefined || !URL.canParse(leader)) return undefined;
  const [from, to] = [new URL(url), new URL(leader)];
  const isHttp = to.protocol === 'http:' || to.protocol === 'https:';
  if (!isHttp || (from.protocol === 'https:' && to.protocol !== 'https:')) return undefined;
  return to.origin === from.origin ? undefined : to.origin;
}
