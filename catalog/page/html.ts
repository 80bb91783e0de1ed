/** Text of HTML that is safe to send: everything that was put into it is escaped. */
export class Html {
  readonly text: string;
  constructor(text: string) {
    this.text = text;
  }
}

type Part = string | Html | readonly Html[] | undefined;

/** Makes HTML of a template: strings are escaped, HTML and lists of it stay, undefined is nothing. */
export const html = (texts: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(texts.map((text, i) => text + printed(parts[i])).join(''));

function printed(part: Part): string {
  if (part === undefined) return '';
  if (part instanceof Html) return part.text;
  return typeof part === 'string' ? escaped(part) : part.map(({ text }) => text).join('');
}

const ESCAPES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};
const escaped = (text: string): string => text.replaceAll(/[&<>"']/g, (c) => ESCAPES[c] ?? '');

/** A whole page. @param error why the form before was refused */
export const page = (
  title: string,
  content: Html,
  more: { readonly error?: string; readonly script?: string } = {},
): Html =>
  html`<!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8" />
        <meta name="viewport" content="width=device-width, initial-scale=1" />
        <title>${title} - Skein</title>
        <link rel="icon" href="data:," />
        <link rel="stylesheet" href="/sign-in/style.css" />
        ${more.script === undefined ? undefined : html`<script src="${more.script}" defer></script>`}
      </head>
      <body>
        <main>
          <h1>${title}</h1>
          ${more.error === undefined ? undefined : html`<p role="alert" class="error">${more.error}</p>`} ${content}
        </main>
      </body>
    </html> `;

type Field = {
  readonly name: string;
  readonly label: string;
  readonly type?: 'text' | 'password';
  readonly autocomplete: string;
  readonly value?: string;
  /** Only digits are typed. */
  readonly isNumber?: boolean;
};

export const field = ({ name, label, type = 'text', autocomplete, value = '', isNumber = false }: Field): Html =>
  html` <p>
    <label for="${name}">${label}</label>
    <input
      id="${name}"
      name="${name}"
      type="${type}"
      autocomplete="${autocomplete}"
      value="${value}"
      autocapitalize="none"
      inputmode="${isNumber ? 'numeric' : 'text'}"
      spellcheck="false"
      maxlength="1024"
      required
    />
  </p>`;

/** A form of our own. @param csrf the token that proves that it is ours */
export const form = (action: string, csrf: string, button: string, content: Html): Html =>
  html` <form method="post" action="${action}">
    <input type="hidden" name="_csrf" value="${csrf}" />${content}
    <p><button type="submit">${button}</button></p>
  </form>`;
