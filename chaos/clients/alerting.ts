// Admins who make alerts while usage comes in.

import { change } from './billing.ts';
import type { ClientContext } from './client-context.ts';
import { alertsOf, bodyOfAlert } from './made-alerts.ts';

/** An organization gets so many more while usage comes in: each one is told of a lot that is there already. */
const MADE_MAX = 5;

/** Makes an alert, which is also held against what is there already. */
export function makeAlert(context: ClientContext, signal: AbortSignal): Promise<void> {
  return context.administer(async (organization) => {
    const made = context.alertsMade.get(organization) ?? 0;
    if (made >= MADE_MAX) return;
    context.alertsMade.set(organization, made + 1);
    const alert = context.random.pick(alertsOf(organization));
    const thresholds = context.random.pick([['5'], ['2', '200']]);
    await change(
      context,
      organization,
      {
        name: 'alert',
        id: context.newName(),
        method: 'POST',
        path: '/alerts',
        body: bodyOfAlert(organization, { ...alert, thresholds }),
        expect: [201],
      },
      signal,
    );
  });
}
