import { expect, test } from 'vitest';
import { WeirClient } from './client.ts';

/** What the client makes of these answers, read as a file, and what it has asked for. */
async function readFile(path: string, answers: Response[]): Promise<{ text: string; asked: string[] }> {
  const asked: string[] = [];
  const fetch = (input: unknown) => {
    asked.push(String(input).replace('http://weir/below/api/v1', ''));
    return Promise.resolve(answers.shift() ?? new Response(undefined, { status: 404 }));
  };
  const weir = new WeirClient({ baseUrl: 'http://weir/below', serviceToken: 'org_svc_x', fetch });
  return { text: new TextDecoder().decode(await weir.file(path, { query: { limit: 2 } })), asked };
}

const answer = (type: string, text: string, link = '') =>
  new Response(text, { headers: { 'content-type': type, ...(link !== '' && { link }) } });

const behind = (cursor: string) => `</about>; rel="about", </api/v1/lines?limit=2&cursor=${cursor}>; rel="next"`;

test('a CSV of several pages is one file, and each page is retried as a call of its own', async () => {
  const { text, asked } = await readFile('/lines', [
    answer('text/csv; charset=utf-8', 'id\r\n1\r\n2\r\n', behind('one')),
    new Response(undefined, { status: 503 }),
    // A page may hold nothing and not be the last.
    answer('text/csv; charset=utf-8', '', behind('two')),
    answer('text/csv; charset=utf-8', 'é\r\n'),
  ]);
  expect(text).toBe('id\r\n1\r\n2\r\né\r\n');
  const second = '/lines?limit=2&cursor=one';
  expect(asked).toEqual(['/lines?limit=2', second, second, '/lines?limit=2&cursor=two']);
});

test('what is no CSV is one answer, although there is a page behind it', async () => {
  const { text, asked } = await readFile('/lines', [answer('application/json', '{"data":[]}', behind('one'))]);
  expect([text, asked]).toEqual(['{"data":[]}', ['/lines?limit=2']]);
});
