import { expect } from 'vitest';
import type { Answer } from './harness.ts';

/**
 * Every answer that is not a success is a problem document (RFC 9457) with a detail to act on and a code to switch on; a 401 says what opens
 * it, and a 503 when to come back, and whether something may have been kept.
 */
export function expectProblem(answer: Answer, status: number, code: string): void {
  expect({ status: answer.status, code: answer.body.code, detail: answer.body.detail }).toEqual({
    status,
    code,
    detail: expect.stringMatching(/\S/),
  });
  expect(answer.headers.get('content-type')).toMatch(/^application\/problem\+json/);
  expect(answer.body).toMatchObject({
    status,
    type: expect.stringMatching(/\S/),
    title: expect.stringMatching(/\S/),
    request_id: expect.stringMatching(/\S/),
  });
  if (status === 401) expect(answer.headers.get('www-authenticate')).toMatch(/^(?:Session|ApiKey|Bearer|Password) /);
  if (status !== 503) return;
  expect(answer.headers.get('retry-after')).toMatch(/^[1-9]\d*$/);
  expect(answer.body.outcome).toMatch(/^(?:not_accepted|unknown)$/);
}
