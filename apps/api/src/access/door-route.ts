// Tells somebody who is not signed in what is open to them, so that a page offers nothing that would be refused.

import { hasOrganization } from '@weir/db/organizations';
import type { Queries } from '@weir/db/database';
import { z } from 'zod';
import type { App } from '../http/typed-app.ts';
import type { ApiSettings } from '../settings.ts';

interface DoorDeps {
  db: Queries;
  signup: ApiSettings['SIGNUP'];
  sendsMail: boolean;
}

export function doorRoute(app: App, { db, signup, sendsMail }: DoorDeps): void {
  /** With SIGNUP=first the door shuts behind the first organization, and for good: then nobody has to be asked again. */
  let isShut = signup === 'closed';
  const isSignUpOpen = async (): Promise<boolean> => {
    if (signup === 'open' || isShut) return !isShut;
    isShut = await hasOrganization(db);
    return !isShut;
  };
  app.get(
    '/api/v1/auth/options',
    {
      schema: {
        operationId: 'getSignInOptions',
        tags: ['Access'],
        summary: 'What is open to somebody who is not signed in',
        security: [],
        response: {
          200: z
            .object({
              sign_up: z.boolean().meta({ description: 'Whether a new organization can be made now.' }),
              password_mail: z.boolean().meta({
                description: 'Whether a link for a new password can be mailed. Else an admin makes one.',
              }),
            })
            .meta({ id: 'SignInOptions' }),
        },
      },
    },
    async () => ({ sign_up: await isSignUpOpen(), password_mail: sendsMail }),
  );
}
