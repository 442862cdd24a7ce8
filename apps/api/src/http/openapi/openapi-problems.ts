import type { ErrorCode } from '@weir/shared/errors';
import { statusOf } from '../problem.ts';

/** An operation of the document, as far as its problems go. */
export interface TellingOperation {
  responses: Record<string, { description: string; content?: Record<string, object> }>;
}

/** Adds a problem to an operation, behind those that it has. The description of a problem's status is the list of its codes. */
export function addProblem(operation: TellingOperation, code: ErrorCode): void {
  tell(operation, code, (codes) => [...codes, code]);
}

/** Puts problems that many operations have before those that this one has. */
export function putProblems(operation: TellingOperation, codes: readonly ErrorCode[]): void {
  for (const code of codes.toReversed()) tell(operation, code, (own) => [code, ...own]);
}

function tell({ responses }: TellingOperation, code: ErrorCode, among: (codes: string[]) => string[]): void {
  const status = String(statusOf(code));
  const codes = responses[status]?.description.split(', ') ?? [];
  const schema = { $ref: '#/components/schemas/Problem' };
  responses[status] ??= { description: '', content: { 'application/problem+json': { schema } } };
  responses[status].description = [...new Set(among(codes))].join(', ');
}
