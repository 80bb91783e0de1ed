/** A statement, the text of the message that has it, and where it begins there. */
export type MessageStatement = { readonly sql: string; readonly text: string; readonly offset: number };
