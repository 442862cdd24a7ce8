import { newId } from '@weir/shared/ids';
import type { FastifyRequest } from 'fastify';
import { expect, test, vi } from 'vitest';
import { logDefect } from './log-defect.ts';

test('a line stands for those of a route that differ by ids alone', () => {
  const error = vi.fn<(fields: { err: Error; invoice_id: string }) => void>();
  const request = { log: { error }, routeOptions: { url: '/api/v1/invoices' } } as unknown as FastifyRequest;
  const [first, second] = [newId(), newId()];
  for (const invoice_id of [first, second])
    logDefect(request, new Error(`the invoice ${invoice_id} has no dues`), 'a part failed', { invoice_id });
  logDefect(request, new Error('something else'), 'a part failed', { invoice_id: second });
  expect(error.mock.calls.map(([fields]) => [fields.err.message, fields.invoice_id])).toEqual([
    [`the invoice ${first} has no dues`, first],
    ['something else', second],
  ]);
});
