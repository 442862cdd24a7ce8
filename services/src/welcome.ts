import type { Demo } from './demo.ts';

/** The meter of the two lines to paste: a quantity shows best where quantities add up. */
const shownAggregation = 'SUM';

/** What a person reads when Weir is up. */
export function tellWelcome(baseUrl: string, demo: Demo | undefined, home: string): string {
  const lines = ['', `Weir runs at ${baseUrl}   (API reference: ${baseUrl}/docs)`, ''];
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
  const meter = demo.meters.find(({ aggregation_type }) => aggregation_type === shownAggregation) ?? demo.meters[0];
  if (meter === undefined) return lines;
  return [
    ...lines,
    'Send an event, and see the count:',
    '',
    trackLine(demo, meter.meter_token),
    usageLine(demo, meter.meter_id),
    '',
  ];
}

// Both lines are often pasted at once, and what was sent a few milliseconds ago may still be on its way: hence the sleep.
function trackLine(demo: Demo, meter_token: string): string {
  const event = JSON.stringify({ meter_token, customer_external_id: 'acme', quantity: 1250 });
  return `curl -sS -w '\\n' -X POST ${demo.base_url}/api/v1/sdk/track -H 'X-API-Key: ${demo.api_key}' -H 'Content-Type: application/json' -d '${event}'; sleep 1`;
}

function usageLine(demo: Demo, meterId: string): string {
  return `curl -sS -w '\\n' '${demo.base_url}/api/v1/meters/${meterId}/usage?group_by=month' -H 'X-API-Key: ${demo.api_key}'`;
}
