import { DEMO_CUSTOMER } from './demo-billing.ts';
import { type Demo, findShownMeter } from './demo.ts';

/** Tells a person how to go on, once Weir is up. */
export function tellWelcome(baseUrl: string, demo: Demo | undefined, home: string): string {
  const lines = ['', `Weir runs: open ${baseUrl} to sign in.   (API reference: ${baseUrl}/docs)`, ''];
  if (demo !== undefined) lines.push(...tellDemo(demo), `All of this is kept in ${home}/demo.json.`);
  lines.push(`Ctrl-C stops everything. The data stays in ${home}, what the processes log is in ${home}/log.`, '');
  return lines.join('\n');
}

function tellDemo(demo: Demo): string[] {
  const width = Math.max(...demo.meters.map(({ name }) => name.length));
  const lines = [
    `  Sign in     ${demo.email}`,
    `  Password    ${demo.password}`,
    `  API key     ${demo.api_key}`,
    '',
    `  ${'Meter'.padEnd(width)}  ${'Aggregation'.padEnd(12)}  Token`,
    ...demo.meters.map(
      ({ name, aggregation_type, meter_token }) =>
        `  ${name.padEnd(width)}  ${aggregation_type.padEnd(12)}  ${meter_token}`,
    ),
    '',
  ];
  const meter = findShownMeter(demo.meters);
  if (meter === undefined) return lines;
  return [
    ...lines,
    'Send an event, see the count, and see the next invoice with it:',
    '',
    trackLine(demo, meter.meter_token),
    usageLine(demo, meter.meter_id),
    invoiceLine(demo),
    '',
  ];
}

// The lines are often pasted at once, and what was sent a few milliseconds ago may still be on its way: hence the sleep.
function trackLine(demo: Demo, meter_token: string): string {
  const event = JSON.stringify({ meter_token, customer_external_id: DEMO_CUSTOMER, quantity: 1250 });
  return `curl -sS -w '\\n' -X POST ${demo.base_url}/api/v1/sdk/track -H 'X-API-Key: ${demo.api_key}' -H 'Content-Type: application/json' -d '${event}'; sleep 1`;
}

function usageLine(demo: Demo, meterId: string): string {
  return `curl -sS -w '\\n' '${demo.base_url}/api/v1/meters/${meterId}/usage?group_by=month' -H 'X-API-Key: ${demo.api_key}'`;
}

// Invoices need a session. The first curl signs in and hands its cookies to the second, so nothing is left behind.
function invoiceLine(demo: Demo): string {
  const account = JSON.stringify({ email: demo.email, password: demo.password });
  return `curl -sS -o /dev/null -c - ${demo.base_url}/api/v1/auth/login -H 'Content-Type: application/json' -d '${account}' | curl -sS -w '\\n' -b - -X POST ${demo.base_url}/api/v1/subscriptions/${demo.subscription_id}/preview-invoice`;
}
