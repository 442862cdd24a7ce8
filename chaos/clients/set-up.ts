// What is made before a run begins. Nothing is broken on purpose yet, and still an API that has just started may be busy.

import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isForNow } from '../history.ts';
import type { Answer, HttpClient, Message, NoAnswer } from './http-client.ts';

const TIMEOUT_MS = 30_000;
const ATTEMPTS_MAX = 10;

/** Makes something, and throws where it is not made in the end. */
export async function create(
  client: HttpClient,
  path: string,
  body: object,
  headers: Record<string, string> = {},
): Promise<{ answer: Answer; body: Record<string, unknown> }> {
  const answer = await answerOf(client, { method: 'POST', path, headers, body: JSON.stringify(body) }, 201);
  return { answer, body: JSON.parse(answer.text) as Record<string, unknown> };
}

/**
 * The answer with this status. Comes back when it is told that nothing can be done now, as any client would: under the same key, so that
 * it is done once. Who signs up has none, and is told that the address is taken where it was done.
 */
export async function answerOf(client: HttpClient, message: Message, status: number): Promise<Answer> {
  const { method, path } = message;
  const key = message.headers['cookie'] === undefined ? {} : { 'idempotency-key': randomUUID() };
  const keyed = { ...message, headers: { ...message.headers, ...key } };
  for (let attempt = 1; ; attempt += 1) {
    const answer: Answer | NoAnswer = await client.attempt(keyed, TIMEOUT_MS);
    if (!('status' in answer)) throw new Error(`${method} ${path} was not answered: ${answer.why}`);
    if (answer.status === status) return answer;
    if (!isForNow(answer.status) || attempt === ATTEMPTS_MAX)
      throw new Error(`${method} ${path} was answered ${answer.status}: ${answer.text}`);
    await delay(Number(answer.retryAfter ?? 1) * 1_000);
  }
}
