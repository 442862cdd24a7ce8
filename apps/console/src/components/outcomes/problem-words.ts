// What the API says of a refusal is written for who calls it: it names fields and paths. Here it is said to somebody who looks at
// a page, at the field that it is about. What is not known here is said as the API says it, without the form of its names.

import type { Problem } from '../../api/problem.ts';

interface FieldWords {
  path: string;
  message: string;
}

interface ProblemWords {
  said: string;
  fields: readonly FieldWords[];
}

/** Refusals that name what only a program knows, and the field that they are about. */
const BY_CODE: Record<string, { said: string; path?: string }> = {
  lookup_key_taken: { path: 'lookup_key', said: 'Another feature has this lookup key. Choose another one.' },
  lookup_id_taken: { path: 'lookup_id', said: 'Another plan has this lookup id. Choose another one.' },
  external_id_taken: { path: 'external_id', said: 'This id is taken. Choose another one, or change what has it.' },
  email_taken: { path: 'email', said: 'There is an account with this email address. Use another address.' },
  feature_already_in_plan: { path: 'feature_id', said: 'The plan has this feature already. Change it there.' },
  feature_in_use: {
    said: 'A plan includes or prices this feature. Take it out of every plan and end its prices first.',
  },
  meter_already_priced: {
    path: 'meter_id',
    said: 'The plan has a price for this meter already. Give that one a new price.',
  },
  plan_inactive: {
    path: 'plan_id',
    said: 'This plan takes no new subscriptions. Change that in the plan, or choose another.',
  },
  subscription_behind: { said: 'The past of this subscription is still being opened. Try again in a minute.' },
  groups_not_ready: { said: 'What was counted before is still being grouped. Try again in a while.' },
  precondition_failed: { said: 'Somebody changed this meanwhile, so nothing was done. Look at what it is now.' },
  not_found: { said: 'This is not there, or not any more: somebody may have deleted it.' },
  request_under_way: { said: 'Weir is still busy with this since it was sent before. Look at it again in a moment.' },
  weir_updated: { said: 'Weir was updated: reload the page.' },
  part_not_loaded: {
    said: 'This part of the console could not be loaded. Reload the page once Weir can be reached again.',
  },
  rate_limited: { said: 'That was too much at once. Try again in a moment.' },
};

/** Returns a refusal in words, and the parts of it that stand at fields. */
export function wordsOf(problem: Problem): ProblemWords {
  const known = BY_CODE[problem.code];
  const fields = (problem.errors ?? []).map(({ path, message }) => ({ path, message: fieldWords(message) }));
  const said = saidOf(problem, known?.said);
  return { said, fields: known?.path === undefined ? fields : [...fields, { path: known.path, message: said }] };
}

/** A press of the same button sends the same key, for as long as it is not known what became of it. */
const NOT_KNOWN =
  'The database did not answer in the end, so it is not known whether Weir has done this. Send it again as it is: it is not done twice.';

/** Of a refusal that is true of this press alone. */
const NOT_KNOWN_BEFORE =
  'Weir could not do this now, and it is not known whether it was done when it was sent before. Send it again as it is in a moment: ' +
  'it is not done twice.';

function saidOf(
  { code, detail, outcome, was_sent_before: wasSentBefore, retry_after_seconds: seconds = 0 }: Problem,
  known: string | undefined,
): string {
  if (code === 'unavailable' && outcome === 'unknown' && detail.includes('Idempotency-Key')) return NOT_KNOWN;
  if (outcome === 'not_accepted' && wasSentBefore === true) return NOT_KNOWN_BEFORE;
  if (code === 'rate_limited' && seconds > 60) return `Too often: try again in ${Math.ceil(seconds / 60)} minutes.`;
  if (code === 'plan_in_use' && detail.includes('is_active')) {
    return 'The plan has, or had, subscriptions. Switch off that it takes new ones instead.';
  }
  // It may wait for something else: for a price of the plan, or for another subscription of the customer.
  if (code === 'subscription_behind' && !detail.includes('periods_to_open')) return plain(detail);
  return known ?? plain(detail);
}

const BY_MESSAGE: readonly [message: RegExp, words: string][] = [
  [/^(?:is required|must not be (?:blank|empty)|must be a string|must be an? (?:object|array))$/, 'Fill this in.'],
  [/^must have 1 to (\d+) characters$/, 'Fill this in, with at most $1 characters.'],
  [/^must have (\d+) to (\d+) characters$/, 'Use $1 to $2 characters.'],
  [/^must have at most (\d+) characters$/, 'Use at most $1 characters.'],
  [/^must be greater than 0$/, 'Enter more than 0.'],
  [/^must be (\d+) or more$/, 'Enter $1 or more.'],
  [/^must be at most ([\d.]+)$/, 'Enter $1 at most.'],
  [/^must be a whole number from (-?\d+) to (\d+)$/, 'Enter a whole number from $1 to $2.'],
  [/^must be a whole number/, 'Enter a whole number.'],
  [/^must be a (?:number|decimal).*\bnot 0\b/, 'Enter an amount such as 12.50, or -12.50; not 0.'],
  [/^must be a decimal greater than 0/, 'Enter a number above 0.'],
  [/^must be a (?:number|decimal)/, 'Enter a number, such as 0.05.'],
  [/^must have at most (\d+) digits after the point.*/, 'Use at most $1 digits after the point.'],
  [/^must be a slug/, 'Use small letters, digits, - and _, at most 64. Begin with a letter or a digit.'],
  [/^must be an email address/, 'Enter an email address, such as ada@example.com.'],
  [/^must be (?:a date such as|ISO 8601)/, 'Enter a date.'],
  [/^is not a date/, 'There is no such date.'],
  [/^must be in the future$/, 'Choose a day to come: this one is past.'],
  [/^must not be in the future$/, 'Choose a day that has come.'],
  [/^must not be before the start$/, 'Choose a day that is not before the start.'],
  [/^must be the id of (?:the |an? )(customer|plan|meter|feature|subscription).*/, 'Choose a $1.'],
  [/^must be a time zone/, 'Choose a time zone from the list.'],
  [/^must be an ISO 4217 code/, 'Enter a currency by its three letters, such as USD.'],
  [/^must hold at least one/, 'Choose at least one.'],
  [/^must be greater than that of the tier before it$/, 'Enter more than in the tier before.'],
  [/^must not be above maximum_amount$/, 'Enter no more than the most that it may come to.'],
  [/^must be 1 to 20 of A-Z/, 'Use 1 to 20 letters, digits and . _ / -, and begin with a letter or a digit.'],
  [/^must be one of (.*)$/, 'Choose one of $1.'],
];

export function fieldWords(message: string): string {
  for (const [pattern, words] of BY_MESSAGE) {
    const found = pattern.exec(message);
    if (found !== null) return words.replace(/\$(\d)/g, (_, group: string) => found[Number(group)] ?? '');
  }
  return plain(/^(?:must|is|has|does|cannot)\b/.test(message) ? `This ${message}` : message);
}

/** The name of a field by its path: `charges[0].unit_price` is `Unit price`. */
export function fieldName(path: string): string {
  const words = (path.split('.').at(-1) ?? path)
    .replace(/\[\d+\]$/, '')
    .replace(/_id$/, '')
    .replaceAll('_', ' ');
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A sentence of its own, in which names of fields are words. */
function plain(text: string): string {
  const words = text.replace(/\b[a-z]+(?:_[a-z]+)+\b/g, (name) => name.replaceAll('_', ' '));
  const sentence = words.charAt(0).toUpperCase() + words.slice(1);
  return /[.!?…]$/.test(sentence) ? sentence : `${sentence}.`;
}
