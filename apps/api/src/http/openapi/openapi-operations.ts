import type { ErrorCode } from '@weir/shared/errors';
import { statusOf } from '../problem.ts';
import type { DocumentSchema } from './openapi-examples.ts';

/** An operation of the document, as it is before it is finished. */
export interface Operation {
  operationId?: string;
  description?: string;
  deprecated?: boolean;
  security?: Record<string, string[]>[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, Content> };
  responses: Record<string, Answer>;
}

interface Answer {
  description: string;
  headers?: Record<string, object>;
  content?: Record<string, Content>;
}

interface Content {
  schema?: DocumentSchema;
  example?: unknown;
  examples?: Record<string, { $ref: string }>;
}

export interface Parameter extends Serialization {
  schema?: DocumentSchema & Serialization;
}

/** How the value of a parameter is written into an address. */
interface Serialization {
  style?: string;
  explode?: boolean;
}

/** By path and method. */
export type Paths = Record<string, Record<string, Operation>>;

/** Each with the name that it has in the API, such as `GET` and `/api/v1/meters/:id`. */
export function operationsOf(paths: Paths): { method: string; url: string; operation: Operation }[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([name, operation]) => ({
      method: name.toUpperCase(),
      url: urlOf(path),
      operation,
    })),
  );
}

/** The path of the document as Fastify has it. */
export const urlOf = (path: string): string => path.replace(/\{(\w+)\}/g, ':$1');

/** Adds to an operation what its answers of success say. */
export function addHeaders({ responses }: Operation, headers: Record<string, object>): void {
  for (const [status, response] of Object.entries(responses))
    if (status.startsWith('2')) response.headers = { ...response.headers, ...headers };
}

export function addParameter(operation: Operation, parameter: object): void {
  operation.parameters = [...(operation.parameters ?? []), parameter];
}

/** Adds a problem to an operation, behind those that it has. The description of a problem's status is the list of its codes. */
export function addProblem(operation: Operation, code: ErrorCode): void {
  tell(operation, code, (codes) => [...codes, code]);
}

/** Puts problems that many operations have before those that this one has. */
export function putProblems(operation: Operation, codes: readonly ErrorCode[]): void {
  for (const code of codes.toReversed()) tell(operation, code, (own) => [code, ...own]);
}

function tell({ responses }: Operation, code: ErrorCode, among: (codes: string[]) => string[]): void {
  const status = String(statusOf(code));
  const codes = responses[status]?.description.split(', ') ?? [];
  const schema = { $ref: '#/components/schemas/Problem' };
  responses[status] ??= { description: '', content: { 'application/problem+json': { schema } } };
  responses[status].description = [...new Set(among(codes))].join(', ');
}
