// The keys by which a write can be sent again without being done twice. What a person sends has one key for as long as it is not
// known what became of it: through an answer that never came, a refusal to wait, a session that ended, and a page loaded anew.
// Whatever else is sent has a key of its own, and so has the same thing once more after the first was done.

const PREFIX = 'weir-sent-';

/** Of these the body must not be kept in the browser, so their keys end with the page. */
const SECRET = /\/api\/v1\/auth\//;

/** These refuse a key, since it is not known whose it would be. */
const WITHOUT_KEY =
  /\/auth\/(?:signup|login|logout|invitation|invitation\/accept|password-reset|password-reset\/request)$/;

/** These compute, and keep nothing. */
const COMPUTES = /\/(?:evaluate|recompute|preview|preview-invoice|preview-change|auth\/invitation)$/;

/** Whether a request changes nothing, whatever became of it. */
export const isRead = (method: string, url: string): boolean =>
  method === 'GET' || method === 'HEAD' || COMPUTES.test(new URL(url).pathname);

/** These set a state, which may be set again once it was left. Any other POST makes something: done twice, it is there twice. */
const SETS_STATE = /^(?:PATCH|PUT|DELETE) |\/(?:cancel|change)$/;

/** The storage of a tab. Its keys are the names of what is in it. */
interface TabStorage {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}

/** One write, as it is known until its outcome is. */
export interface SentWrite {
  key: string;
  /** It was, by this key, and what became of it is not known. */
  wasSentBefore: boolean;
  /** What it changes: two writes of one thing follow each other. */
  thing: string;
  name: string;
}

export interface SentWrites {
  /** Returns a write with its key, by what it asks for; undefined for what is safe to repeat, or takes no key. */
  begin(method: string, url: string, body: string): SentWrite | undefined;
  /** This press has done nothing: of those before it nothing is known by that. */
  refuse(write: SentWrite): void;
  /** Its outcome is known: sent again it is another one. Once it is done, so is each state whose setting was not known of that thing. */
  settle(write: SentWrite, isDone: boolean): void;
  /** Forgets them all, as the next person at this browser must find nothing of this one. */
  forget(): void;
}

export function buildSentWrites(storage: TabStorage): SentWrites {
  const ofThisPage = new Map<string, string>();
  /** How many presses with a key may have been carried out; of one that is kept from a page before, nobody counted. */
  const uncertain = new Map<string, number>();
  /** A browser that has no room for it keeps it for as long as the page is open. */
  const keep = (name: string, key: string): void => {
    try {
      storage.setItem(name, key);
    } catch {
      ofThisPage.set(name, key);
    }
  };
  /** Until version 1.0 all names began with the thing. A tab outlives an upgrade, and its answer may have been lost in it. */
  const takeFromBefore = (name: string): string | null => {
    const key = storage.getItem(name);
    storage.removeItem(name);
    return key;
  };
  const drop = (isDropped: (name: string) => boolean): void => {
    for (const name of Object.keys(storage)) if (isDropped(name)) storage.removeItem(name);
    for (const names of [ofThisPage, uncertain])
      for (const name of names.keys()) if (isDropped(name)) names.delete(name);
  };
  return {
    begin(method, url, body) {
      const path = new URL(url).pathname;
      if (isRead(method, url) || WITHOUT_KEY.test(path)) return undefined;
      const thing = `${PREFIX}${path.split('/').slice(0, 5).join('/')}`;
      const asked = `${method} ${path}`;
      const name = `${SETS_STATE.test(asked) ? `${thing} ` : PREFIX}${asked} ${body}`;
      const known = ofThisPage.get(name) ?? storage.getItem(name) ?? takeFromBefore(`${thing} ${asked} ${body}`);
      const key = known ?? newKey();
      if (SECRET.test(path)) ofThisPage.set(name, key);
      else keep(name, key);
      const before = uncertain.get(key) ?? Number(known !== null);
      uncertain.set(key, before + 1);
      return { key, wasSentBefore: before > 0, thing, name };
    },
    refuse({ key }) {
      const sent = uncertain.get(key);
      if (sent !== undefined) uncertain.set(key, sent - 1);
    },
    settle({ key, thing, name }, isDone) {
      uncertain.delete(key);
      drop((each) => each === name || (isDone && each.startsWith(`${thing} `)));
    },
    forget: () => drop((name) => name.startsWith(PREFIX)),
  };
}

/** 128 random bits. `randomUUID` is not there over plain HTTP, where a Weir on another machine may be looked at. */
export function newKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, '0')).join('');
}
