// The limits of the interface have one home, packages/shared/src/limits.ts. What is made of it is kept true here; `-u` writes it anew.

import { OTHER_DIGITS } from '@weir/rating/currencies';
import { FIRST_YEAR, LIMIT_TABLE, LIMITS, YEARS } from '@weir/shared/limits';
import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { limitsPage, pythonLimits, typescriptLimits } from '../../clients/openapi/limits.ts';
import { typescriptDigits } from '../../clients/openapi/minor-digits.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));

test.each([
  ['docs/limits.md', limitsPage(LIMIT_TABLE, YEARS, FIRST_YEAR)],
  ['packages/sdk/src/limits.ts', typescriptLimits(LIMIT_TABLE, ['batchEvents'])],
  ['clients/python/weir/_limits.py', pythonLimits(LIMIT_TABLE, ['batchEvents'])],
  [
    'apps/console/src/api/limits.ts',
    typescriptLimits(LIMIT_TABLE, [
      'pageSize',
      'longPageSize',
      'meterKeys',
      'groupBuckets',
      'corrections',
      'failingDays',
      'rotationHours',
      'passwordResetHours',
    ]),
  ],
  ['apps/console/src/text/minor-digits.ts', typescriptDigits(OTHER_DIGITS)],
])('%s says what it is made of', async (file, text) => {
  await expect(text).toMatchFileSnapshot(`../../${file}`);
});

/**
 * A number of two digits or more in a place where a schema has its limit, or any in words about one; a constant of the file in such words,
 * but how many there are of a list; and a pattern that counts the digits of what a limit bounds. A client's time-out is the client's.
 */
const OWN_NUMBER =
  /\b(?:[Uu]p to|at most|more than) \d|\byears? \d{4}|\b(?:[Uu]p to|at most|more than|years?) \$\{(?!LIMITS\.|METADATA_LIMITS|FIRST_YEAR|YEARS\.|[A-Z_]+\.length\})[A-Z]|\\d(?:\?|\{1,\d\}).*\bLIMITS\.|(?<!Time out after )\b\d[\d,]* (?:days|hours|seconds)\b|[Tt]he last \d|\btext\(\d+, \d|\bcountOf\(\d|\.max\(\d{2,}|\b(?:whole|fraction): \d|\\d\{1,\d{2,}\}\(|DEFAULT = \d|max(?:imum|Length|Items): \d{2,}(?! \*\*)/;

/** Where numbers are: the limits, and what an operator sets. */
const HOMES = ['packages/shared/src/limits.ts', 'apps/api/src/settings.ts'];

async function sources(...folders: string[]): Promise<string[]> {
  const found = folders.map(async (folder) =>
    (await readdir(`${root}/${folder}`, { recursive: true })).map((file) => `${folder}/${file}`),
  );
  return (await Promise.all(found)).flat().filter((file) => /\.tsx?$/.test(file));
}

/** Lines of code, with their places, in which a number is found. */
async function linesWith(number: RegExp, ...folders: string[]): Promise<string[]> {
  const found: string[] = [];
  for (const file of await sources(...folders)) {
    if (file.endsWith('.test.ts') || HOMES.includes(file)) continue;
    const lines = (await readFile(`${root}/${file}`, 'utf8')).split('\n');
    for (const [at, line] of lines.entries()) {
      if (number.test(line) && !/^\s*(?:\/\/|\*|\/\*)/.test(line)) found.push(`${file}:${at + 1} ${line.trim()}`);
    }
  }
  return found;
}

test('no schema of the API has a limit with a number of its own', async () => {
  expect(await linesWith(OWN_NUMBER, 'apps/api/src', 'packages/shared/src')).toEqual([]);
});

test('each limit is read by what holds it', async () => {
  const files = (await sources('apps', 'packages')).filter(
    (file) => !HOMES.includes(file) && !/node_modules|\/dist\//.test(file),
  );
  const code = (await Promise.all(files.map((file) => readFile(`${root}/${file}`, 'utf8')))).join('\n');
  const isRead = (name: string) =>
    new RegExp(`\\b(?:LIMITS|LIMIT_TABLE)\\.${name}\\b|\\bsizeOf\\('${name}'\\)`).test(code);
  expect(Object.keys(LIMIT_TABLE).filter((name) => !isRead(name))).toEqual([]);
});

/** As much as the API gives at once, or more, where the console asks for a part of a list. Fewer are what one looks at. */
const ASKED_NUMBER = /\b(?:page_size|limit): [1-9][\d_]{2,}|\b(?:LIMIT|PAGE_SIZE|PEOPLE_MAX) = [1-9][\d_]{2,}/;

test('the console asks for no more of a list than the API gives, by the same number', async () => {
  expect(await linesWith(ASKED_NUMBER, 'apps/console/src')).toEqual([]);
});

/** Numbers of the interface that people read in other places than the page of limits. */
const SAID = {
  'README.md': [[/Up to ([\d,]+) events go in one/, LIMITS.batchEvents]],
  'CHANGELOG.md': [
    [/batches of up to ([\d,]+)/, LIMITS.batchEvents],
    [/An organization has at most ([\d,]+) features/, LIMITS.features],
    [/at most [\d,]+ features, and a plan (\d+)/, LIMITS.planFeatures],
    [/A plan has at most (\d+)\s+charges/, LIMITS.planCharges],
    [/without an end, and ([\d,]+) tiers/, LIMITS.planTiers],
  ],
  'SECURITY.md': [
    [/password \| (\d+) to \d+ characters/, LIMIT_TABLE.password.min],
    [/password \| \d+ to (\d+) characters/, LIMITS.password],
    [/Any (\d+) to \d+ characters/, LIMIT_TABLE.password.min],
    [/Any \d+ to (\d+) characters/, LIMITS.password],
    [/after (\d+) hours without a request/, LIMITS.sessionIdleHours],
    [/without a request, after (\d+) days/, LIMITS.sessionDays],
    [/when it is used, after (\d+) days/, LIMITS.invitationDays],
    [/another one of the user is used, after (\d+) hours/, LIMITS.passwordResetHours],
    [/opens once, for (\d+) hours/, LIMITS.passwordResetHours],
    [/Answers are kept for (\d+) days/, LIMITS.keptAnswerDays],
  ],
  // Another number takes a migration.
  'packages/db/schema.sql': [
    [/credit_grants_priority_check .*priority <= (\d+)/, LIMITS.priority],
    [/group_value\(value text\)[^;]*char_length\(value\) <= (\d+)/, LIMITS.groupValue],
    [/metadata_groups_max\(\)[^;]*RETURN (\d+)/, LIMITS.dayCombinations],
    [/meters_metadata_keys_check .* <= (\d+)/, LIMITS.meterKeys],
    [/organizations_invoice_grace_hours_check .* <= (\d+)/, LIMITS.graceHours],
    [/organizations_payment_terms_days_check .* <= (\d+)/, LIMITS.termsDays],
    [/organizations_widget_meter_ids_check .* <= (\d+)/, LIMITS.widgetMeters],
  ],
  'docs/billing.md': [
    [/A plan has at most (\d+) charges/, LIMITS.planCharges],
    [/without an end, with ([\d,]+) tiers/, LIMITS.planTiers],
    [/A key has 1 to (\d+) characters/, LIMITS.key],
    [/Prices have up to (\d+) digits after the point/, LIMITS.fraction],
    [/`invoice_grace_hours` \(default 1, 0 to (\d+)\)/, LIMITS.graceHours],
    [/`payment_terms_days` \(default 30, 0 to (\d+)\)/, LIMITS.termsDays],
    [/finalizes up to (\d+) drafts/, LIMITS.finalizedAtOnce],
    [/An invoice takes (\d+) payments/, LIMITS.payments],
    [/`Idempotent-Replay: true`, for (\d+) days/, LIMITS.keptAnswerDays],
    [/An organization has up to (\d+)\s+alerts/, LIMITS.alerts],
    [/alerts of up to (\d+) thresholds/, LIMITS.thresholds],
    [/organization has at most (\d+) endpoints/, LIMITS.webhookEndpoints],
  ],
  'docs/guides/events-of-others.md': [
    [/A `lookup_key` is a slug: .*, at most (\d+) characters/, LIMITS.slug],
    [/A batch has up to ([\d,]+) events/, LIMITS.batchEvents],
    [/Any time from (\d+) on is taken/, FIRST_YEAR],
  ],
  'docs/guides/late-events.md': [[/from the year (\d+) to a day ahead/, FIRST_YEAR]],
  'packages/sdk/README.md': [[/each of up to ([\d,]+)/, LIMITS.batchEvents]],
  'clients/python/README.md': [[/each of up to ([\d,]+)/, LIMITS.batchEvents]],
} as const;

test('other documents and the checks of the schema say the same numbers', async () => {
  for (const [file, sentences] of Object.entries(SAID)) {
    const text = await readFile(`${root}/${file}`, 'utf8');
    for (const [sentence, limit] of sentences) {
      expect([file, String(sentence), sentence.exec(text)?.[1]?.replaceAll(',', '')]).toEqual([
        file,
        String(sentence),
        String(limit),
      ]);
    }
  }
});

test('no check of the schema has a number that is not held so', async () => {
  const lines = (await readFile(`${root}/packages/db/schema.sql`, 'utf8')).split('\n');
  const checks = lines.filter((line) => /\bCHECK .*<=? \(?\d/.test(line));
  expect(checks.length).toBeGreaterThan(3);
  const isHeld = (line: string) => SAID['packages/db/schema.sql'].some(([sentence]) => sentence.test(line));
  expect(checks.filter((line) => !isHeld(line))).toEqual([]);
});

/** What is said with such words of other things than the interface: of days, of an operator's settings. */
const OF_OTHERS = [
  'up to 26 hours',
  'up to 24 hours after its end',
  'up to 24 hours at the door',
  'up to 24 hours ahead',
];

test.each(['README.md', 'SECURITY.md', 'docs/billing.md', 'docs/guides/events-of-others.md'] as const)(
  'what %s says is at most so many is a limit of the one file',
  async (file) => {
    const text = await readFile(`${root}/${file}`, 'utf8');
    const sentences: readonly (readonly [RegExp, number])[] = SAID[file];
    const held = sentences.flatMap(([sentence]) => {
      const found = sentence.exec(text);
      return found === null ? [] : [[found.index, found.index + found[0].length] as const];
    });
    const others = OF_OTHERS.flatMap((words) => [...text.matchAll(wordsOf(words))]).map(({ index }) => index);
    const own = [...text.matchAll(/\b(?:at most|up to)\s+\d/gi)].filter(
      ({ index }) => !others.includes(index) && !held.some(([from, to]) => from <= index && index < to),
    );
    expect(own.map(({ index }) => text.slice(index, index + 40))).toEqual([]);
  },
);

/** The words, wherever a line is broken. */
const wordsOf = (words: string) => new RegExp(words.replaceAll(' ', String.raw`\s+`), 'g');
