import { parentPort, workerData } from 'node:worker_threads';
import { must } from '#shared/must.ts';
import { PageVisitor } from './page-visitor.ts';

/** A thread in which many people sign in to the console at once, again and again, until it is told to end. It answers how many have. */
export type ConsoleFlood = {
  readonly catalogUrl: string;
  readonly queryUrl: string;
  readonly atOnce: number;
  readonly username: string;
  readonly password: string;
};

const { catalogUrl, queryUrl, atOnce, username, password } = workerData as ConsoleFlood;
const port = must(parentPort, 'it is a thread');
const over = new AbortController();
let signedIn = 0;
let refused = 0;
let addresses = 0;

const pathOf = (address: string | null): string => {
  const url = new URL(address ?? '/', queryUrl);
  return url.pathname + url.search;
};

/** From the console to the page of the catalog, the password, and back with a session. */
async function signIn(): Promise<boolean> {
  const [browser, page] = [new PageVisitor(catalogUrl), new PageVisitor(queryUrl)];
  addresses += 1;
  const from = { 'x-forwarded-for': `10.1.${(addresses >> 8) & 255}.${addresses & 255}` };
  const question = pathOf((await page.get('/console/sign-in')).headers.get('location'));
  await browser.get(question);
  const { status } = await browser.submit('/sign-in', { username, password }, { headers: from });
  if (status !== 303) return false;
  const back = (await browser.get(question)).headers.get('location');
  return (await page.get(pathOf(back))).headers.get('location') === '/console/';
}

async function person(): Promise<void> {
  while (!over.signal.aborted) {
    if (await signIn()) signedIn += 1;
    else refused += 1;
  }
}

port.once('message', () => over.abort());
await Promise.all(Array.from({ length: atOnce }, person));
port.postMessage({ signedIn, refused }, []);
port.close();
