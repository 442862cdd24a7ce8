// What the dialogs that change an invoice share.

import type { Schema } from '../api/client.ts';

export interface InvoiceDialogProps {
  invoice: Schema<'InvoiceWithLines'>;
  onClose: () => void;
}

/** What is read again once an invoice was changed. */
export const OF_INVOICES = [
  '/api/v1/invoices',
  '/api/v1/invoices/{id}',
  '/api/v1/invoices/{id}/lines',
  '/api/v1/invoices/{id}/credits',
  '/api/v1/subscriptions',
  '/api/v1/subscriptions/{id}',
  '/api/v1/customers/{id}/credits',
  '/api/v1/credits',
] as const;
