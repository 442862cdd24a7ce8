import type { ErrorCode } from '@weir/shared/errors';
import { statusOf } from '../problem.ts';

/** An operation of the document, as far as its problems go. */
export interface TellingOperation {
  responses: Record<string, { description: string; content?: Record<string, object> }>;
}

/** Adds a problem to an operation. The description of a problem's status is the list of its codes. */
export function addProblem({ responses }: TellingOperation, code: ErrorCode): void {
  const status = String(statusOf(code));
  const response = responses[status];
  if (response === undefined) {
    const schema = { $ref: '#/components/schemas/Problem' };
    responses[status] = { description: code, content: { 'application/problem+json': { schema } } };
  } else if (!response.description.split(', ').includes(code)) response.description += `, ${code}`;
}
