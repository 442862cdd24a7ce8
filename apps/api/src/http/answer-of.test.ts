import { expect, test } from 'vitest';
import { z } from 'zod';
import { answerOf } from './fields.ts';

interface Row {
  id: string;
  note: string | null;
}

test('an answer that lacks a field of its rows, has another one, or one of another type does not compile', () => {
  const id = z.string();
  const note = z.string().nullable();
  // @ts-expect-error A column that is not answered.
  const short = answerOf<Row>()({ id });
  // @ts-expect-error A field that is in no column.
  const long = answerOf<Row>()({ id, note, more: note });
  // @ts-expect-error A number in the place of a text.
  const wrong = answerOf<Row>()({ id, note: z.int() });
  expect([short, long, wrong, answerOf<Row>()({ id, note })].map(({ shape }) => Object.keys(shape).length)).toEqual([
    1, 3, 2, 2,
  ]);
});
