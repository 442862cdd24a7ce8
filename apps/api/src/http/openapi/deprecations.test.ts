import fastify from 'fastify';
import { expect, test } from 'vitest';
import { tellOfDeprecations, useDeprecations } from './deprecations.ts';

const config = {
  deprecated: { since: '2027-01-31', sunset: '2028-02-01', instead: 'https://weir.example/docs/new' },
};
const LINK = '<https://weir.example/docs/new>; rel="successor-version"';
const HEADERS = { deprecation: '@1801353600', sunset: 'Tue, 01 Feb 2028 00:00:00 GMT', link: LINK };

test('what is deprecated says since when, until when and what to take, in answers and in refusals', async () => {
  const app = fastify();
  useDeprecations(app);
  app.get('/old/:id', { config }, () => ({}));
  app.get('/paged', { config }, (_, reply) => void reply.header('link', '</paged?cursor=2>; rel="next"').send({}));
  app.get('/refused', { config }, (_, reply) => void reply.code(404).send({}));
  app.get('/new', () => ({}));
  expect((await app.inject('/old/1')).headers).toMatchObject(HEADERS);
  expect((await app.inject('/refused')).headers).toMatchObject(HEADERS);
  expect((await app.inject('/paged')).headers['link']).toBe(`</paged?cursor=2>; rel="next", ${LINK}`);
  expect(Object.keys((await app.inject('/new')).headers)).not.toContain('deprecation');
});

test('the document says the same of it, and nothing of others', async () => {
  const app = fastify();
  const deprecated = useDeprecations(app);
  app.get('/old/:id', { config }, () => ({}));
  const paths = {
    '/old/{id}': {
      get: { responses: { '200': { description: 'OK' }, '404': { description: 'not_found' } } },
      delete: { responses: { '204': { description: 'No Content' } } },
    },
  };
  tellOfDeprecations(paths, deprecated);
  const header = (example: string) => ({ description: expect.any(String), schema: { type: 'string' }, example });
  expect(paths).toEqual({
    '/old/{id}': {
      get: {
        deprecated: true,
        responses: {
          '200': {
            description: 'OK',
            headers: {
              Deprecation: header(HEADERS.deprecation),
              Sunset: header(HEADERS.sunset),
              Link: header(HEADERS.link),
            },
          },
          '404': { description: 'not_found' },
        },
      },
      delete: { responses: { '204': { description: 'No Content' } } },
    },
  });
});
