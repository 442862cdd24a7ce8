// Reads what the token opens. It goes into a header, and nowhere else.

/** Why a read came to nothing: the token has ended, or something else that may be over in a moment. */
export class Trouble extends Error {
  constructor(status) {
    super(`answered ${status}`);
    this.hasEnded = status === 401;
    this.status = status;
  }
}

/** Longer than any answer takes. A connection that broke without a word would leave the page loading, for ever. */
const ANSWER_MS_MAX = 60_000;

/** Whether a read failed because Weir refused it, or no answer came: told on the page. Anything else is a defect. */
export function isNoAnswer(error) {
  return error instanceof Trouble || error instanceof TypeError || error.name === 'AbortError';
}

async function ask(token, path, query, take) {
  // Customers of customers have browsers without AbortSignal.timeout.
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), ANSWER_MS_MAX);
  try {
    // Relative, so that Weir may lie under a path of its own. No cookie: the token is the only credential here.
    const answer = await fetch(`api/v1/widget/${path}?${new URLSearchParams(query)}`, {
      headers: { authorization: `Bearer ${token}` },
      credentials: 'omit',
      cache: 'no-store',
      signal: ending.signal,
    });
    latest = Math.max(latest, Date.parse(answer.headers.get('date') ?? '') || 0);
    if (!answer.ok) throw new Trouble(answer.status);
    return await take(answer);
  } finally {
    clearTimeout(timer);
  }
}

/** When Weir last answered, by its own clock. */
let latest = 0;

/** What time it is: where the clock of the browser is behind, at least what the last answer says. */
export function timeNow() {
  return new Date(Math.max(Date.now(), latest));
}

/** Asks one of the read endpoints of the widget; where there is no answer, it throws what {@link isNoAnswer}. */
export async function read(token, path, query) {
  return await ask(token, path, query, (answer) => answer.json());
}

/** The same for what is a file. */
export async function readFile(token, path, query) {
  return await ask(token, path, query, (answer) => answer.blob());
}

/** Charts of meters, two at a time: Weir works on no more of one customer's at once. */
export async function readCharts(token, meters, question) {
  const charts = new Map();
  const waiting = meters.map(({ meter_id: id }) => id);
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift())
      charts.set(id, await read(token, `meters/${id}/usage`, question));
  };
  await Promise.all([work(), work()]);
  return charts;
}
