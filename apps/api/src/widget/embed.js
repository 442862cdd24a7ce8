// What runs in the page /embed. The token is in the fragment of the address, which no browser sends to a server, and goes
// from there into a header. Everything that came from elsewhere is put into the page as text, never as HTML.

const message = document.querySelector('#message');
const again = document.querySelector('#again');
const meters = document.querySelector('#meters');

/** What each way of counting shows, for people who do not know its name. */
const SHOWN = {
  COUNT: 'in all',
  SUM: 'in all',
  MAX: 'highest',
  MIN: 'lowest',
  AVG: 'on average',
  LAST: 'last',
  UNIQUE_COUNT: 'different ones',
};

/** What to tell a person; undefined for a good answer. */
function trouble(status) {
  if (status === 401) return 'This view has ended: reload the page around it to see your usage again.';
  return status === 200 ? undefined : 'Your usage cannot be shown now: try again in a moment.';
}

async function read(path, query) {
  const token = new URLSearchParams(location.hash.slice(1)).get('token');
  if (token === null) throw new Error('This page shows usage inside an app, which gives it a token: it has none.');
  // Relative, so that Weir may lie under a path of its own. No cookie: the token is the only credential here.
  const answer = await fetch(`api/v1/widget/${path}?${new URLSearchParams(query)}`, {
    headers: { authorization: `Bearer ${token}` },
    credentials: 'omit',
    cache: 'no-store',
  });
  const problem = trouble(answer.status);
  // A browser may know a time zone by a name that the server does not.
  if (answer.status === 422 && query.timezone !== 'UTC') return await read(path, { ...query, timezone: 'UTC' });
  if (problem !== undefined) throw new Error(problem);
  return await answer.json();
}

function element(name, properties = {}, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

function drawing(name, attributes, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, String(value));
  made.append(...children);
  return made;
}

/** An exact decimal as people write it where the page is read. Given as text, no digit of it is lost. */
function amount(usage, unit) {
  if (usage === null) return 'none';
  const digits = new Intl.NumberFormat(undefined, { maximumFractionDigits: 20 }).format(usage);
  return unit === null ? digits : `${digits} ${unit}`;
}

function day(period) {
  return new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' }).format(new Date(period));
}

function chart({ grouped_data: days, unit }) {
  // Only how high a bar is comes from a rounded number.
  const heights = days.map(({ usage }) => Number(usage ?? 0));
  const highest = Math.max(...heights);
  const bars = days.map(({ period, usage }, index) => {
    const height = highest > 0 ? ((heights[index] ?? 0) / highest) * 100 : 0;
    const title = drawing('title', {}, `${day(period)}: ${amount(usage, unit)}`);
    return drawing('rect', { x: index * 10 + 1, y: 100 - height, width: 8, height }, title);
  });
  const peak = days[heights.indexOf(highest)];
  const label = `Bar chart by day. Highest: ${amount(peak.usage, unit)} on ${day(peak.period)}.`;
  const viewBox = `0 0 ${days.length * 10} 100`;
  return drawing('svg', { viewBox, preserveAspectRatio: 'none', role: 'img', 'aria-label': label }, ...bars);
}

function table({ grouped_data: days, unit }) {
  const head = element(
    'tr',
    {},
    ...['Day', 'Usage'].map((textContent) => element('th', { scope: 'col', textContent })),
  );
  const rows = days.map(({ period, usage }) =>
    element(
      'tr',
      {},
      element('th', { scope: 'row', textContent: day(period) }),
      element('td', { textContent: amount(usage, unit) }),
    ),
  );
  const whole = element('table', {}, element('thead', {}, head), element('tbody', {}, ...rows));
  return element('details', {}, element('summary', { textContent: 'By day' }), whole);
}

async function show() {
  const timezone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? 'UTC';
  again.hidden = true;
  message.textContent = 'Loading…';
  try {
    const { data } = await read('usage', { timezone });
    const shown = [];
    for (const { meter_id: id, name, unit, aggregation_type: aggregation, total_usage: total } of data) {
      const byDay = await read(`meters/${id}/usage`, { timezone, group_by: 'day' });
      shown.push(
        element(
          'section',
          {},
          element('h2', { textContent: name }),
          element(
            'p',
            {},
            element('span', { className: 'total', textContent: amount(total, unit) }),
            ' ',
            element('span', { className: 'quiet', textContent: SHOWN[aggregation] ?? '' }),
          ),
          chart(byDay),
          table(byDay),
        ),
      );
    }
    meters.replaceChildren(...shown);
    message.textContent = shown.length === 0 ? 'No usage in the last 30 days.' : '';
  } catch (error) {
    // A browser says of a broken connection only that it failed, and in words of its own.
    message.textContent = error instanceof TypeError ? trouble(503) : error.message;
    again.hidden = false;
  }
}

again.addEventListener('click', () => void show());
// An app that asks for a new token puts it into the address of the frame.
addEventListener('hashchange', () => void show());
await show();
