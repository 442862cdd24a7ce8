import { pythonBilling, pythonReads } from '../../clients/openapi/python.ts';
import { readQueries, type Document } from '../../clients/openapi/reads.ts';
import { typescriptBilling, typescriptReads } from '../../clients/openapi/typescript.ts';
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { beforeAll, expect, test } from 'vitest';
import { sharedWeir } from '../support/use-weir.ts';

const weir = sharedWeir();
let document: Document;
beforeAll(async () => {
  document = (await weir.request('GET', '/openapi.json')).body as Document;
});

test('the TypeScript client reads what the document says that the API answers; `-u` writes its types anew', async () => {
  await expect(typescriptReads(document)).toMatchFileSnapshot('../../packages/sdk/src/openapi.ts');
  const { billing, events } = typescriptBilling(document);
  await expect(billing).toMatchFileSnapshot('../../packages/sdk/src/billing.ts');
  await expect(events).toMatchFileSnapshot('../../packages/sdk/src/billing-events.ts');
});

test('the Python client reads what the document says that the API answers; `-u` writes its types anew', async () => {
  await expect(pythonReads(document)).toMatchFileSnapshot('../../clients/python/weir/_openapi.py');
  await expect(pythonBilling(document)).toMatchFileSnapshot('../../clients/python/weir/_billing.py');
});

/** The methods of the Python client that ask with a query, and what they take beside it. */
const METHODS: Record<string, { method: string; also?: string[] }> = {
  UsageParameters: { method: 'usage', also: ['meter_id'] },
  WindowQuery: { method: 'customer_usage', also: ['customer_id'] },
  MeterCustomersQuery: { method: 'meter_customers', also: ['meter_id'] },
  EventsQuery: { method: 'events' },
  EntitlementsQuery: { method: 'entitlement' },
  CustomersQuery: { method: 'customers' },
};

const SIGNATURES = `
import inspect, json, weir
print(json.dumps({name: [each.name for each in inspect.signature(getattr(weir.Client, name)).parameters.values()
                         if each.kind is not each.VAR_KEYWORD and each.name != "self"]
                  for name in ${JSON.stringify(Object.values(METHODS).map(({ method }) => method))}}))`;

test('each method of the Python client takes every parameter that the document has for it, and no other', async () => {
  const path = fileURLToPath(new URL('../../clients/python', import.meta.url));
  const env = { ...process.env, PYTHONPATH: path, PYTHONDONTWRITEBYTECODE: '1' };
  const taken = JSON.parse((await promisify(execFile)('python3', ['-c', SIGNATURES], { env })).stdout);
  const asked = readQueries(document).map(({ name, fields }) => {
    const { method = name, also = [] } = METHODS[name] ?? {};
    return [method, [...fields.map((field) => field.name), ...also].sort()];
  });
  const sorted = Object.entries(taken as Record<string, string[]>).map(([method, names]) => [method, names.sort()]);
  expect(Object.fromEntries(sorted)).toEqual(Object.fromEntries(asked));
});
