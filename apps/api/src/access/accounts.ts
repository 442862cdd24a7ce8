// Fields that requests and answers about accounts share.

import type { Account } from '@weir/db/users';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { oneOf } from '../http/fields.ts';

/** The address of an account, which is one in whatever case it is written. */
export const email = z
  .email({ error: ({ code }) => (code === 'invalid_type' ? undefined : 'must be an email address') })
  .max(LIMITS.email, `must have at most ${LIMITS.email} characters`)
  .toLowerCase();

export const role = oneOf(['admin', 'viewer']).meta({
  description: 'An admin does everything; a viewer reads everything and changes nothing.',
});

export const accountAnswer = z
  .object({
    user: z.object({ id: z.uuid(), email: z.string(), role }),
    organization: z.object({ id: z.uuid(), name: z.string() }),
  })
  .meta({ id: 'Account' });

export function answerAccount(account: Account): z.output<typeof accountAnswer> {
  return {
    user: { id: account.user_id, email: account.email, role: account.role },
    organization: { id: account.organization_id, name: account.organization_name },
  };
}
