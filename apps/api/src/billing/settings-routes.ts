// How the organization bills.

import { getBillingSettings, updateBillingSettings, type BillingSettings } from '@weir/db/billing/billing-settings';
import { holdOrganization } from '@weir/db/hold-row';
import { text } from '@weir/shared/text';
import { LIMITS } from '@weir/shared/limits';
import { z } from 'zod';
import { answerOf, changesOf, oneOf, timeZone } from '../http/fields.ts';
import type { App } from '../http/typed-app.ts';
import { done } from '../http/writing/writing.ts';
import { changing, reading, type Versioned } from '../http/writing/versions.ts';
import { party, partyBody } from './party.ts';
import type { RouteDeps } from '../route-deps.ts';

const settingsShape = {
  time_zone: timeZone,
  invoice_grace_hours: z
    .int('must be a whole number')
    .min(0, 'must be 0 or more')
    .max(LIMITS.graceHours, `must be at most ${LIMITS.graceHours}`)
    .meta({ description: 'How long an invoice stays a draft after its boundary, for events that come late.' }),
  payment_terms_days: z
    .int('must be a whole number')
    .min(0, 'must be 0 or more')
    .max(LIMITS.termsDays, `must be at most ${LIMITS.termsDays}`)
    .meta({ description: 'From the issue of an invoice until it is due.' }),
  invoice_prefix: z
    .string()
    .regex(
      new RegExp(`^[A-Za-z0-9][A-Za-z0-9._/-]{0,${LIMITS.invoicePrefix - 1}}$`),
      `must be 1 to ${LIMITS.invoicePrefix} of A-Z, a-z, 0-9 and ._/-, and begin with a letter or digit`,
    )
    .meta({ description: 'What the numbers of invoices begin with, as in INV-2026-000042.' }),
  invoice_issuer: text(1, LIMITS.lines).nullable().meta({
    description:
      'Who issues invoices, in the lines that stand on them: name, address, tax number. Null: the name of the organization.',
  }),
  seller: partyBody.nullable().meta({
    description:
      'The same field by field, for electronic invoices: copied when an invoice is finalized. A change replaces all of it.',
  }),
  finalize: oneOf(['automatic', 'manual']).meta({
    description:
      'Manual: a draft stays one until somebody finalizes it with POST /invoices/{id}/finalize. It holds for drafts that are there ' +
      'as well; back to automatic, those whose grace is over are finalized at once.',
  }),
};

const settingsAnswer = answerOf<BillingSettings>()({ ...settingsShape, seller: party.nullable() }).meta({
  id: 'BillingSettings',
});
const settingsChanges = changesOf(settingsShape);

const billingSettings: Versioned<BillingSettings> = { read: getBillingSettings, hold: holdOrganization };

export function settingsRoutes(app: App, { database, guards }: RouteDeps): void {
  app.get(
    '/api/v1/billing/settings',
    {
      onRequest: guards.viewer,
      schema: {
        operationId: 'getBillingSettings',
        tags: ['Billing'],
        summary: 'Read how the organization bills',
        response: { 200: settingsAnswer },
      },
    },
    reading(database, billingSettings),
  );

  app.patch(
    '/api/v1/billing/settings',
    {
      onRequest: guards.admin,
      schema: {
        operationId: 'updateBillingSettings',
        tags: ['Billing'],
        summary: 'Change how the organization bills',
        description:
          'Changes the fields that are sent, for subscriptions and drafts that are made from then on. What is said of the issue of ' +
          'invoices (terms, prefix, issuer, seller) holds for all that are finalized from then on.',
        body: settingsChanges,
        response: { 200: settingsAnswer },
      },
    },
    changing(database, billingSettings, ({ caller, body }, write) =>
      write.single(async (db) => done(await updateBillingSettings(db, caller.organizationId, body))),
    ),
  );
}
