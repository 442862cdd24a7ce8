import type { Database } from '@weir/db/database';
import Fastify from 'fastify';
import { expect, test } from 'vitest';
import type { App } from '../typed-app.ts';
import { changing, changingWithin, useVersions } from './versions.ts';
import { done, writing } from './writing.ts';

const database = {} as Database;
const thing = { read: async () => ({ name: 'a' }), hold: async () => {} };

test('a PATCH that takes no If-Match stops the start, and one that does is known by whether it has an ETag', () => {
  const app = Fastify().withTypeProvider<never>() as unknown as App;
  const tagged = useVersions(app);
  const url = '/api/v1/new';
  const handler = writing(database, (_, write) => write.single(async () => done({ name: 'b' })));
  expect(() => app.patch(url, handler)).toThrow(`PATCH ${url} takes no If-Match`);
  app.patch(
    `${url}/whole`,
    changing(database, thing, (_, write) => write.single(async () => done({ name: 'b' }))),
  );
  app.patch(
    `${url}/part`,
    changingWithin(database, thing, (_, write) => write.single(async () => done({}))),
  );
  expect(tagged).toEqual(
    new Map([
      [`${url}/whole`, { isOfPatch: true }],
      [`${url}/part`, { isOfPatch: false }],
    ]),
  );
});
