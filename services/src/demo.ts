import { randomBytes } from 'node:crypto';
import { readFile, rename, rm } from 'node:fs/promises';
import { writePrivateFile } from './connection.ts';
import { makeSubscription, type Session } from './demo-billing.ts';
import { type Answer, expectStatus, request } from './demo-request.ts';
import { isCode } from './processes.ts';

interface DemoMeter {
  name: string;
  meter_token: string;
  meter_id: string;
  aggregation_type: string;
}

/** Facts with which one can try Weir: kept in `demo.json`, shown at every start. */
export interface Demo {
  base_url: string;
  email: string;
  password: string;
  api_key: string;
  meters: DemoMeter[];
  /** What bills the customer of the lines to paste. */
  subscription_id: string;
}

/** The file while the demo is being made: the sign-in is written down before it is used. */
type Draft = Pick<Demo, 'base_url' | 'email' | 'password'> & Partial<Demo>;

/** The meter that the demo shows and bills: a quantity shows best where quantities add up. */
const SHOWN_AGGREGATION = 'SUM';

const NOT_THE_DEMO =
  'There is an organization here already, and it is not the demo: nothing was added. Sign in with your own account.';

/** With another SIGNUP the API does not say whether there is an organization. */
const withSignup = (signup: string): string =>
  `No demo is made with SIGNUP=${signup}, only with SIGNUP=first while there is no organization.`;

/** One meter for every aggregation there is. */
export const demoFeatures = [
  { name: 'API calls', lookup_key: 'api-calls', aggregation_type: 'COUNT', unit: 'call' },
  { name: 'Tokens', lookup_key: 'tokens', aggregation_type: 'SUM', unit: 'token' },
  { name: 'Peak memory', lookup_key: 'peak-memory', aggregation_type: 'MAX', unit: 'MiB' },
  { name: 'Lowest balance', lookup_key: 'lowest-balance', aggregation_type: 'MIN', unit: 'credit' },
  { name: 'Response time', lookup_key: 'response-time', aggregation_type: 'AVG', unit: 'ms' },
  { name: 'Seats', lookup_key: 'seats', aggregation_type: 'LAST', unit: 'seat' },
  { name: 'Active users', lookup_key: 'active-users', aggregation_type: 'UNIQUE_COUNT', unit: 'user' },
];

/** The meter of the lines to paste. */
export function findShownMeter(meters: readonly DemoMeter[]): DemoMeter | undefined {
  return meters.find(({ aggregation_type }) => aggregation_type === SHOWN_AGGREGATION) ?? meters[0];
}

/** Where the demo is kept, which API makes it, and who may sign up there (`SIGNUP`). */
export interface DemoPlace {
  file: string;
  baseUrl: string;
  signup: string;
}

/**
 * The demo organization of this Weir, made through its HTTP API: with an admin, an API key, a meter of every kind, and a
 * customer whose usage of one of them is billed. What is there already is used, so a run that was cut short is continued by the
 * next. It is made only while there is no organization, and only with SIGNUP=first, where the API itself sees to that. Returns
 * `undefined` and says why where there is none. Throws when the API refuses what it should not.
 */
export async function openDemo(place: DemoPlace, log: (line: string) => void): Promise<Demo | undefined> {
  const { file, baseUrl, signup } = place;
  const kept = await readDraft(file);
  const keptKey = kept?.api_key !== undefined && (await opens(baseUrl, kept.api_key)) ? kept.api_key : undefined;
  if (isComplete(kept) && keptKey !== undefined) {
    return kept.base_url === baseUrl ? kept : save(file, { ...kept, base_url: baseUrl });
  }
  const draft = kept ?? newDraft(baseUrl);
  let session = kept === undefined ? undefined : await signIn(baseUrl, kept);
  if (session === undefined && signup === 'first') session = await signUp(baseUrl, await save(file, draft));
  if (session === undefined) {
    // What was kept belongs to another database; this one has its own accounts.
    if (kept !== undefined) await rename(file, `${file}.old`);
    else await rm(file, { force: true });
    log(signup === 'first' ? NOT_THE_DEMO : withSignup(signup));
    return undefined;
  }
  const meters = await makeMeters(baseUrl, session);
  const shown = findShownMeter(meters);
  if (shown === undefined) throw new Error('The demo has no meter to bill.');
  const subscription_id = await makeSubscription(baseUrl, session, shown.meter_id);
  const api_key = keptKey ?? (await makeApiKey(baseUrl, session));
  return save(file, { ...draft, base_url: baseUrl, api_key, meters, subscription_id });
}

async function makeApiKey(baseUrl: string, session: Session): Promise<string> {
  const body = { name: 'Demo', scopes: ['usage.write', 'usage.read'] };
  const { key } = expectStatus(await request(baseUrl, 'POST', '/api-keys', session, body), 201) as { key: string };
  return key;
}

function newDraft(base_url: string): Draft {
  return { base_url, email: 'demo@example.com', password: randomBytes(18).toString('base64url') };
}

async function readDraft(file: string): Promise<Draft | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Draft;
  } catch (error) {
    if (isCode(error, 'ENOENT')) return undefined;
    throw new Error(`${file} cannot be read: mend or remove it.`, { cause: error });
  }
}

async function save<T extends Draft>(file: string, demo: T): Promise<T> {
  await writePrivateFile(file, `${JSON.stringify(demo, null, 2)}\n`);
  return demo;
}

function isComplete(draft: Draft | undefined): draft is Demo {
  return draft?.api_key !== undefined && draft.meters !== undefined && draft.subscription_id !== undefined;
}

async function opens(baseUrl: string, apiKey: string): Promise<boolean> {
  const answer = await request(baseUrl, 'GET', '/features', { 'x-api-key': apiKey });
  if (answer.status === 401) return false;
  expectStatus(answer, 200);
  return true;
}

/** The headers of a session; `undefined` when there is no such account here. */
async function signIn(baseUrl: string, { email, password }: Draft): Promise<Session | undefined> {
  const login = await request(baseUrl, 'POST', '/auth/login', {}, { email, password });
  if (login.status === 401) return undefined;
  expectStatus(login, 200);
  return sessionOf(login);
}

/** The headers of the session of a new account; `undefined` when there is an organization already. */
async function signUp(baseUrl: string, { email, password }: Draft): Promise<Session | undefined> {
  const organization_name = 'Demo';
  const signup = await request(baseUrl, 'POST', '/auth/signup', {}, { email, password, organization_name });
  if (signup.status === 403) return undefined;
  expectStatus(signup, 201);
  return sessionOf(signup);
}

function sessionOf(answer: Answer): Session {
  const cookie = answer.cookies
    .map((header) => header.split(';')[0] ?? '')
    .find((pair) => pair.startsWith('access_token='));
  if (cookie === undefined) throw new Error(`${answer.request} set no cookie access_token.`);
  return { cookie };
}

async function makeMeters(baseUrl: string, session: Session): Promise<DemoMeter[]> {
  interface Feature extends DemoMeter {
    lookup_key: string;
  }
  const list = expectStatus(await request(baseUrl, 'GET', '/features', session), 200) as { data: Feature[] };
  const meters: DemoMeter[] = [];
  for (const wanted of demoFeatures) {
    const feature =
      list.data.find(({ lookup_key }) => lookup_key === wanted.lookup_key) ??
      (expectStatus(
        await request(baseUrl, 'POST', '/features', session, { ...wanted, type: 'meter' }),
        201,
      ) as Feature);
    const { meter_token, meter_id, aggregation_type } = feature;
    meters.push({ name: wanted.name, meter_token, meter_id, aggregation_type });
  }
  return meters;
}
