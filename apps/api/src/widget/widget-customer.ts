import { z } from 'zod';
import type { Caller } from '../http/load/caller.ts';

/** Any page may ask: it gets an answer for the token that it sends, and for nothing else. */
export const OPEN_TO_PAGES = { isOpenToPages: true } as const;

/** Without a customer the sums would be those of all of them, so this is asked for and not assumed. */
export function customerOf({ organizationId, customerExternalId }: Caller) {
  if (customerExternalId === undefined) throw new Error('the guard lets widget tokens through and nothing else');
  return { organizationId, customerExternalId };
}

export const tokenExpiresIn = z
  .int()
  .meta({ description: 'Seconds until the token ends: ask the app for a new one before.' });
