/** `@schema.stage/path` as stage and path; a quoted name may have a slash of its own. */
export function splitStage(text: string): { readonly stage: string; readonly path: string } {
  const [stage = text] = /^@(?:"(?:[^"]|"")*"|[^"/])*/.exec(text) ?? [];
  return { stage, path: text.slice(stage.length + 1) };
}
