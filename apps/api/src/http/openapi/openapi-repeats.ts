// What the document says of Idempotency-Key: of every operation that takes it, and of those that refuse it.

import { LIMITS } from '@weir/shared/limits';
import {
  addHeaders,
  addParameter,
  addProblem,
  operationsOf,
  type Operation,
  type Paths,
} from './openapi-operations.ts';
import { isRepeatable, refusesKey } from '../writing/repeats.ts';

const KEY = {
  in: 'header',
  name: 'idempotency-key',
  required: false,
  description:
    `Makes the request safe to send again: within ${LIMITS.keptAnswerDays} days the same request with the same key gets the first answer, ` +
    'and nothing is done twice. A text that is new for each thing to do, such as a UUID; quotes around it are no part of it.',
  schema: { type: 'string', minLength: 1, maxLength: LIMITS.key },
};

const HEADERS = {
  'Idempotent-Replay': {
    description: 'The request came before with this Idempotency-Key: this is its first answer.',
    schema: { type: 'string', enum: ['true'] },
  },
  'Idempotent-Withheld': {
    description:
      `Members of the first answer that are not repeated: a secret is null, a list that made the answer ` +
      `larger than ${LIMITS.keptAnswerBytes / 1024} KiB is empty.`,
    schema: { type: 'string' },
  },
};

/** Adds all of it to the paths of a document. */
export function tellOfRepeats(paths: Paths): void {
  for (const { method, url, operation } of operationsOf(paths))
    if (isRepeatable(method, url)) tell(operation);
    else if (refusesKey(method, url)) addProblem(operation, 'invalid_request');
}

function tell(operation: Operation): void {
  addParameter(operation, KEY);
  addProblem(operation, 'request_under_way');
  addProblem(operation, 'invalid_request');
  addProblem(operation, 'idempotency_key_reused');
  addHeaders(operation, HEADERS);
}
