import type { Database } from '@weir/db/database';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import { useRepeats } from './repeats.ts';
import type { App } from '../typed-app.ts';
import { done, writing } from './writing.ts';

const database = {} as Database;

function appWithRepeats(): App {
  const app = Fastify().withTypeProvider<never>() as unknown as App;
  useRepeats(app);
  return app;
}

test.each(['POST', 'PATCH', 'PUT', 'DELETE'])(
  'a route of %s that is not made with writing stops the start',
  (method) => {
    const app = appWithRepeats();
    expect(() => app.route({ method, url: '/api/v1/new', handler: () => 'done' })).toThrow(
      `${method} /api/v1/new is not safe to repeat`,
    );
  },
);

test('one that is made with writing does not, nor does one that reads', () => {
  const app = appWithRepeats();
  const handler = writing(database, (_, write) => write.single(async () => done({})));
  expect(() => app.route({ method: 'POST', url: '/api/v1/new', handler })).not.toThrow();
  expect(() => app.route({ method: 'GET', url: '/api/v1/new', handler: () => 'read' })).not.toThrow();
});
