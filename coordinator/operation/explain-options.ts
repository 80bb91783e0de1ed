export type ExplainFormat = 'text' | 'json';
export type ExplainOptions = { readonly type: 'logical' | 'distributed'; readonly format: ExplainFormat };
