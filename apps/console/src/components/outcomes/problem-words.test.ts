import { expect, test } from 'vitest';
import { fieldName, fieldWords, wordsOf } from './problem-words.ts';

test('what the API says of a field is said to a person', () => {
  expect(fieldWords('is required')).toBe('Fill this in.');
  expect(fieldWords('must not be empty')).toBe('Fill this in.');
  expect(fieldWords('must have 1 to 255 characters')).toBe('Fill this in, with at most 255 characters.');
  expect(fieldWords('must be the id of a customer record')).toBe('Choose a customer.');
  expect(fieldWords('must be a number, or a decimal in a text such as "0.05"; it must have at most 9 digits')).toBe(
    'Enter a number, such as 0.05.',
  );
  // What is not known here is a sentence all the same.
  expect(fieldWords('must be at most 12 periods ago')).toBe('This must be at most 12 periods ago.');
  expect(fieldWords('must not name a customer_external_id twice')).toBe(
    'This must not name a customer external id twice.',
  );
});

test('where it is not known whether something was done, a person hears that it can be sent again', () => {
  const detail = 'It is not known whether this was done: send it again with the same Idempotency-Key.';
  const { said } = wordsOf({ code: 'unavailable', detail, outcome: 'unknown' });
  expect(said).toContain('Send it again as it is: it is not done twice.');
  expect(said).not.toContain('Key');
});

test('where a second press does nothing, a person hears that the first may have done it', () => {
  const detail = 'This process has more to do than it can, and nothing was kept: send the request again in a moment.';
  const refused = { code: 'unavailable', detail, outcome: 'not_accepted' } as const;
  expect(wordsOf({ ...refused, was_sent_before: true }).said).toContain(
    'it is not known whether it was done when it was sent before',
  );
  expect(wordsOf({ ...refused, was_sent_before: false }).said).toBe(detail);
});

test('a subscription that waits for a price or for another one is not said to wait for its own past', () => {
  const words = (detail: string) => wordsOf({ code: 'subscription_behind', detail }).said;
  expect(words('Its periods_to_open says how many are to come.')).toContain('The past of this subscription');
  const priced = 'A price of this plan was given at this moment: try again in a moment.';
  expect(words(priced)).toBe(priced);
});

test('a refusal that is about one field stands there', () => {
  const taken = wordsOf({ code: 'lookup_key_taken', detail: 'Another feature has this lookup_key.' });
  expect(taken.fields).toEqual([{ path: 'lookup_key', message: taken.said }]);
  expect(taken.said).not.toContain('_');
  expect(wordsOf({ code: 'last_admin', detail: 'This is the only admin.' })).toEqual({
    said: 'This is the only admin.',
    fields: [],
  });
  expect(fieldName('charges[0].unit_price')).toBe('Unit price');
});
