// Writes down limits of the interface where they cannot be imported: in both clients, which are published alone, in the console, which
// knows the API by its document, and for people in docs/limits.md. test/catalog/limits-written-down.test.ts keeps these files true.

interface Limit {
  max: number;
  min?: number;
  byDefault?: number;
  of: string;
  why: string;
  under: string;
}

type Limits<Name extends string> = Readonly<Record<Name, Limit>>;

const MADE = 'Made of packages/shared/src/limits.ts: change that, and `npx vitest run limits-written-down -u`.';

/** Returns some of the limits as constants of TypeScript. */
export function typescriptLimits<Name extends string>(limits: Limits<Name>, names: readonly Name[]): string {
  const constants = names.map(
    (name) =>
      `\n/** The most ${limits[name].of}. */\nexport const ${constant(name)} = ${grouped(limits[name].max, '_')};\n`,
  );
  return `// ${MADE}\n${constants.join('')}`;
}

/** Returns some of the limits as constants of Python. */
export function pythonLimits<Name extends string>(limits: Limits<Name>, names: readonly Name[]): string {
  const constants = names.map(
    (name) => `\n#: The most ${limits[name].of}.\n${constant(name)} = ${grouped(limits[name].max, '_')}\n`,
  );
  return `# ${MADE}\n${constants.join('')}`;
}

/** Returns all limits as a page of the documents, with the years that dates may have: all, and those of what is counted or billed. */
export function limitsPage(limits: Limits<string>, years: { min: number; max: number }, firstYear: number): string {
  const all = Object.values(limits);
  const parts = [...new Set(all.map(({ under }) => under))].map((part) => {
    const rows = all
      .filter(({ under }) => under === part)
      .map((limit) => `| ${grouped(limit.max, ',')} | ${limit.of}${besides(limit)} | ${limit.why} |`);
    return [`## ${part}`, '', '| at most | of | since |', '|---:|---|---|', ...rows, ''].join('\n');
  });
  const dates = [
    '## Years',
    '',
    `Dates and times in requests are of the years ${years.min} to ${years.max}. Events, and starts of subscriptions, are of ${firstYear} or later.`,
    '',
  ].join('\n');
  return [PAGE_HEAD, ...parts, dates].join('\n');
}

function besides({ min, byDefault }: Limit): string {
  if (min !== undefined) return `, of at least ${min}`;
  return byDefault === undefined ? '' : `; ${byDefault} where nothing is said`;
}

const PAGE_HEAD = `# Limits

What a request may hold, how much an answer gives at once, and how long things are kept. A request that holds more is refused
with 422, and the refusal says the number; what is too often in a time is refused with 429. An answer that has more gives the
first of it, or the last, as is said there. Nothing here can be set; how large a body may be, and how many requests come
through, an operator sets: [configuration.md](configuration.md).

<!-- ${MADE} -->
`;

function constant(name: string): string {
  return `${name.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}_MAX`;
}

/** A number with its digits in threes. */
function grouped(value: number, by: string): string {
  return String(value).replaceAll(/\B(?=(?:\d{3})+$)/g, by);
}
