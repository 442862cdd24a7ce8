import { expect, test } from 'vitest';
import { Closer } from './closer.ts';

test('what was opened last is closed first, and each step is waited for', async () => {
  const closed: string[] = [];
  const closer = new Closer();
  closer.add('the database', () => closed.push('the database'));
  closer.add('the queue', async () => {
    await new Promise((resolve) => setImmediate(resolve));
    closed.push('the queue');
  });
  closer.add('the server', () => closed.push('the server'));
  await closer.close();
  expect(closed).toEqual(['the server', 'the queue', 'the database']);
});

test('a step that fails keeps none of the others from closing, and is named at the end', async () => {
  const closed: string[] = [];
  const closer = new Closer();
  closer.add('the database', () => closed.push('the database'));
  closer.add('the queue', () => {
    throw new Error('gone');
  });
  closer.add('the server', () => Promise.reject(new Error('stuck')));
  const failure = await closer.close().catch((error: unknown) => error);
  expect(closed).toEqual(['the database']);
  expect(failure).toBeInstanceOf(AggregateError);
  expect((failure as AggregateError).errors.map((error: Error) => error.message)).toEqual([
    'could not close the server',
    'could not close the queue',
  ]);
});

test('a step that is not done in time keeps none of the others from closing, and is named at the end', async () => {
  const closed: string[] = [];
  const closer = new Closer();
  closer.add('the database', () => closed.push('the database'));
  closer.add('the queue', () => new Promise(() => {}));
  const failure = await closer.close(1).catch((error: unknown) => error);
  expect(closed).toEqual(['the database']);
  expect(failure).toMatchObject({
    errors: [
      {
        message: 'could not close the queue',
        cause: { message: expect.stringMatching(/^there was no answer within \d+ ms$/) },
      },
    ],
  });
});

test('closing a second time closes nothing twice', async () => {
  let count = 0;
  const closer = new Closer();
  closer.add('the database', () => (count += 1));
  await Promise.all([closer.close(), closer.close()]);
  await closer.close();
  expect(count).toBe(1);
});
