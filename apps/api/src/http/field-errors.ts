// What zod says of a value, as a person reads it, field by field.

import type { FieldError } from '@weir/shared/errors';
import { LIMITS } from '@weir/shared/limits';
import type { z } from 'zod';

type Issue = z.core.$ZodIssue;

/** Enough to find an unknown field by, or a key; its name may be as long as the body. */
export const KEY_CHARACTERS_MAX = 100;

export const NO_FIELD = 'is not a field of this request: check its spelling';

/**
 * The first of the problems, at most as many as are looked at, and how many there are in all; `at` is put before every path. What is not
 * told is not written out: there may be as many as a body has values.
 */
export function fieldErrors(issues: readonly Issue[], at: string): { errors: FieldError[]; count: number } {
  const looked = issues.slice(0, LIMITS.problems);
  const told = looked.filter((issue) => !isOfAnotherType(issue, looked));
  const countOf = (issue: Issue) => (issue.code === 'unrecognized_keys' ? issue.keys.length : 1);
  return {
    errors: told.flatMap((issue) => errorsOf(issue, at)),
    count: issues.reduce((sum, issue) => sum + countOf(issue), told.length - looked.length),
  };
}

/** A text in place of a list has a length too, which zod holds against those that the list may have. */
function isOfAnotherType(issue: Issue, issues: readonly Issue[]): boolean {
  if (issue.code !== 'too_big' && issue.code !== 'too_small') return false;
  const path = issue.path.join('\n');
  return issues.some((other) => other.code === 'invalid_type' && other.path.join('\n') === path);
}

function errorsOf(issue: Issue, at: string): FieldError[] {
  const path = issue.path.reduce<string>((whole, step) => {
    if (typeof step === 'number') return `${whole}[${step}]`;
    return whole === '' ? String(step) : `${whole}.${String(step)}`;
  }, at);
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.slice(0, LIMITS.problems).map((whole) => {
      const key = whole.slice(0, KEY_CHARACTERS_MAX);
      return {
        path: path === '' ? key : `${path}.${key}`,
        // Where it says more than what zod says of every object, the schema says it.
        message: issue.message.startsWith('Unrecognized key') ? NO_FIELD : issue.message,
      };
    });
  }
  if (issue.code === 'invalid_type') {
    if (issue.message.endsWith('received undefined')) return [{ path, message: 'is required' }];
    const isOwn = !issue.message.startsWith('Invalid input');
    return [{ path, message: isOwn ? lowerFirst(issue.message) : `must be ${article(issue.expected)}` }];
  }
  return [{ path, message: lowerFirst(issue.message) }];
}

function article(type: string): string {
  return /^[aeiou]/.test(type) ? `an ${type}` : `a ${type}`;
}

function lowerFirst(text: string): string {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
