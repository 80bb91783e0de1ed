import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { must } from '#shared/must.ts';

type Schema = Readonly<Record<string, unknown>>;
type ResponseObject = {
  readonly description: string;
  readonly headers?: Readonly<Record<string, { readonly schema: Schema }>>;
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
};
type Operation = { readonly operationId: string; readonly responses: Readonly<Record<string, ResponseObject>> };
type OpenApi = {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: Schema;
};

/** The answer to a request: `text` is the whole body. */
export type ApiAnswer = {
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
};

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const DATE_TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
/** Headers that an answer has only sometimes. */
const SOMETIMES: ReadonlySet<string> = new Set(['x-skein-cut', 'x-skein-position']);
/** Headers that an answer may have only if the document lists them: our own, and `WWW-Authenticate`. */
const TOLD_HEADERS = /^(x-skein-|www-authenticate$)/;

/** Checks real answers against an OpenAPI 3.1 document: status, headers, content type, every member, and the error's code. */
export class ApiDocument {
  readonly #document: OpenApi;
  readonly #ajv = new Ajv2020({
    strict: true,
    allErrors: true,
    formats: { uuid: UUID, 'date-time': DATE_TIME, binary: true },
  });
  readonly #validators = new Map<Schema, ValidateFunction>();

  constructor(document: unknown) {
    this.#document = document as OpenApi;
    this.#ajv.addVocabulary(['components']);
  }

  /** `operationId` of every operation. */
  get operations(): readonly string[] {
    return Object.values(this.#document.paths)
      .flatMap((path) => Object.values(path))
      .map(({ operationId }) => operationId);
  }

  /** The codes that the document says an operation answers. */
  codes(operationId: string): readonly string[] {
    const operation = Object.values(this.#document.paths)
      .flatMap((path) => Object.values(path))
      .find((one) => one.operationId === operationId);
    return Object.values(must(operation, operationId).responses).flatMap(({ description }) => codesIn(description));
  }

  /**
   * Returns the operation's id, undefined for a path that the document lacks. @throws Error with everything that differs from the document
   */
  check(answer: ApiAnswer): string | undefined {
    const operation = this.#operation(answer);
    const problems = operation === undefined ? this.#unknownPath(answer) : this.#problems(operation, answer);
    const { method, path, status, text } = answer;
    if (problems.length === 0) return operation?.operationId;
    throw new Error(`${method} ${path}: ${status} ${text.slice(0, 500)}\n${problems.join('\n')}`);
  }

  #operation({ method, path }: ApiAnswer): Operation | undefined {
    const [pathname = ''] = path.split('?');
    const found = Object.entries(this.#document.paths).find(([template]) => templatePattern(template).test(pathname));
    return found?.[1][method.toLowerCase()];
  }

  /** A path without an operation must answer with an error. */
  #unknownPath({ status, text }: ApiAnswer): readonly string[] {
    if (status !== 404 && status !== 400) return ['the document has no such operation'];
    return this.#bodyProblems({ $ref: '#/components/schemas/Error' }, JSON.parse(text));
  }

  #problems({ responses }: Operation, { status, headers, text }: ApiAnswer): readonly string[] {
    const response = responses[String(status)];
    if (response === undefined) return [`the document has no status ${status}`];
    return [...this.#headerProblems(response, headers), ...this.#contentProblems(response, headers, text)];
  }

  #headerProblems({ headers: documented = {} }: ResponseObject, headers: Headers): readonly string[] {
    const names = new Set(Object.keys(documented).map((name) => name.toLowerCase()));
    const untold = [...headers.keys()].filter((name) => TOLD_HEADERS.test(name) && !names.has(name));
    const expected = Object.entries(documented).filter(
      ([name]) => headers.has(name) || !SOMETIMES.has(name.toLowerCase()),
    );
    const wrong = expected.flatMap(([name, { schema }]) =>
      this.#bodyProblems(schema, headers.get(name)).map((problem) => `header ${name}${problem}`),
    );
    return [...untold.map((name) => `the document has no header ${name}`), ...wrong];
  }

  #contentProblems({ content, description }: ResponseObject, headers: Headers, text: string): readonly string[] {
    if (content === undefined) return text === '' ? [] : ['a body where the document has none'];
    const [type = ''] = (headers.get('content-type') ?? '').split(';');
    const schema = content[type]?.schema;
    if (schema === undefined) return [`the document has no content type ${type}`];
    const body: unknown = type === 'application/json' ? JSON.parse(text) : text;
    const { error } = body as { readonly error?: string };
    const code =
      error === undefined || codesIn(description).includes(error) ? [] : [`the document has no ${error} here`];
    return [...code, ...this.#bodyProblems(schema, body)];
  }

  #bodyProblems(schema: Schema, value: unknown): readonly string[] {
    const { components } = this.#document;
    const validate = this.#validators.get(schema) ?? this.#ajv.compile({ ...schema, components });
    this.#validators.set(schema, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message, params }) =>
      [`${instancePath}: ${message}`, JSON.stringify(params)].join(' '),
    );
  }
}

/** The description of a response lists the code of every error with its status. */
const codesIn = (description: string): readonly string[] =>
  [...description.matchAll(/^`([A-Z_]+)` \(/gm)].map((match) => match[1] ?? '');

const templatePattern = (template: string): RegExp =>
  new RegExp(
    `^${template
      .replaceAll('.', '\\.')
      .replaceAll(/\{\w+\}/g, '[^/]+')
      .replace('{*}', '.+')}$`,
  );
