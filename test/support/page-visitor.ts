import { atLocalhost } from '#shared/config/loopback.ts';

/** A browser without JavaScript: it keeps cookies, and sends the forms that pages show. */
export class PageVisitor {
  readonly cookies = new Map<string, string>();
  readonly #base: string;

  constructor(base: string) {
    this.#base = atLocalhost(base);
  }

  get origin(): string {
    return new URL(this.#base).origin;
  }

  async get(path: string, headers: Readonly<Record<string, string>> = {}): Promise<Visit> {
    return this.#send(path, { headers });
  }

  /** Sends a form with the token of the page at `from`. */
  async submit(
    from: string,
    fields: Readonly<Record<string, string>>,
    {
      action = from,
      headers = {},
    }: { readonly action?: string; readonly headers?: Readonly<Record<string, string>> } = {},
  ): Promise<Visit> {
    const { text } = await this.get(from);
    const token = /name="_csrf" value="([^"]+)"/.exec(text)?.[1] ?? '';
    return this.post(action, { _csrf: token, ...fields }, headers);
  }

  post(
    path: string,
    fields: Readonly<Record<string, string>>,
    headers: Readonly<Record<string, string>> = {},
  ): Promise<Visit> {
    const body = new URLSearchParams(fields).toString();
    const type = 'application/x-www-form-urlencoded';
    return this.#send(path, {
      method: 'POST',
      body,
      headers: { 'content-type': type, origin: this.origin, ...headers },
    });
  }

  async #send(path: string, init: Sent): Promise<Visit> {
    const cookie = [...this.cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = { ...(cookie === '' ? {} : { cookie }), ...init.headers };
    const answer = await fetch(this.#base + path, { ...init, headers, redirect: 'manual' });
    for (const line of answer.headers.getSetCookie()) {
      const [pair = ''] = line.split(';');
      const at = pair.indexOf('=');
      const isGone = pair.slice(at + 1) === '' || /max-age=0/i.test(line);
      if (isGone) this.cookies.delete(pair.slice(0, at));
      else this.cookies.set(pair.slice(0, at), pair.slice(at + 1));
    }
    return { status: answer.status, headers: answer.headers, text: await answer.text() };
  }
}

type Visit = { readonly status: number; readonly headers: Headers; readonly text: string };
type Sent = {
  readonly method?: string;
  readonly body?: string;
  readonly headers: Readonly<Record<string, string>>;
};
