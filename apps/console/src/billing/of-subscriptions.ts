/** Paths that show a subscription, and are read anew when it changes. */
export const OF_SUBSCRIPTIONS = [
  '/api/v1/subscriptions',
  '/api/v1/subscriptions/{id}',
  '/api/v1/subscriptions/{id}/periods',
  '/api/v1/invoices',
] as const;
