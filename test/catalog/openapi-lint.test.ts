// The linter of the check, on the document as it is, on some with a fault, and on some that a client of a release would stumble over.

import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sharedWeir } from '../support/use-weir.ts';

const run = promisify(execFile);
const linter = fileURLToPath(new URL('../../apps/api/openapi/lint.mjs', import.meta.url));
const comparison = new URL('../../apps/api/openapi/breaking-changes.mjs', import.meta.url);
const { findBreakingChanges } = (await import(comparison.href)) as {
  findBreakingChanges(released: object, now: object): string[];
};
const deprecations = new URL('../../apps/api/openapi/deprecations.mjs', import.meta.url);
const { findUntoldDeprecations } = (await import(deprecations.href)) as {
  findUntoldDeprecations(document: object, changelog: string): string[];
};

const weir = sharedWeir();
let folder: string;
let served: string;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'weir-openapi-'));
  served = JSON.stringify((await weir.request('GET', '/openapi.json')).body);
});
afterAll(() => rm(folder, { recursive: true }));

/** What the linter says of documents in files of these names. */
async function lint(documents: Record<string, string>): Promise<{ stdout: string; stderr: string }> {
  for (const [name, text] of Object.entries(documents)) await writeFile(join(folder, name), text);
  return await run(process.execPath, [linter, ...Object.keys(documents)], { cwd: folder }).catch(
    (error: { stdout: string; stderr: string }) => error,
  );
}

test('the served document passes, and wrong styles, references, examples and what breaks clients are told', async () => {
  let wrong = served;
  for (const [good, bad] of [
    ['"schema":{"type":"object"', '"schema":{"style":"deepObject","type":"object"'],
    ['"#/components/schemas/Problem"', '"#/components/schemas/Porblem"'],
    ['"quantity":1,', '"quantity":"one",'],
    ['"operationId":"createCharge"', '"operationId":"addCharge"'],
  ] as const) {
    expect(wrong).toContain(good);
    wrong = wrong.replace(good, bad);
  }
  const { stdout, stderr } = await lint({ 'served.json': served, 'wrong.json': wrong });
  expect(stdout).toBe('served.json passes\n');
  expect(stderr).toContain(
    'A client of 1.0.0 breaks: POST /api/v1/plans/{id}/charges is no longer called createCharge',
  );
  for (const rule of ['struct', 'no-unresolved-refs', 'no-invalid-media-type-examples']) expect(stderr).toContain(rule);
});

// The parts of a document that are changed here have no types of their own.
// oxlint-disable-next-line typescript/no-explicit-any
type Loose = any;

/** What a client of the document that is served would stumble over after a change of it. */
function breaking(change: (document: Loose) => void): string[] {
  const document = JSON.parse(served);
  change(document);
  return findBreakingChanges(JSON.parse(served), document);
}

const SUBSCRIPTION = '/api/v1/subscriptions';

test('what was released and is gone, or has to be sent now, is told', () => {
  const told = breaking(({ paths }) => {
    delete paths['/api/v1/meters'].get;
    const create = paths[SUBSCRIPTION].post;
    const body = create.requestBody.content['application/json'].schema;
    body.required.push('external_id');
    delete body.properties.trial_end_date;
    create.security = [];
    paths['/api/v1/customers'].post.security[1] = { serviceToken: ['admin'] };
    paths[SUBSCRIPTION].get.parameters.push({ in: 'query', name: 'zone', required: true, schema: { type: 'string' } });
    paths[SUBSCRIPTION].get.parameters = paths[SUBSCRIPTION].get.parameters.filter(
      ({ name }: Loose) => name !== 'plan_id',
    );
    paths['/api/v1/plans/{id}/charges'].post.operationId = 'addCharge';
  });
  expect(told.toSorted()).toEqual([
    'GET /api/v1/meters is no longer there',
    `GET ${SUBSCRIPTION} query plan_id is no longer taken`,
    `GET ${SUBSCRIPTION} query zone has to be sent`,
    'POST /api/v1/customers is no longer open with serviceToken',
    'POST /api/v1/plans/{id}/charges is no longer called createCharge',
    `POST ${SUBSCRIPTION} body.external_id has to be sent`,
    `POST ${SUBSCRIPTION} body.trial_end_date is no longer taken`,
    `POST ${SUBSCRIPTION} is no longer open with serviceToken`,
    `POST ${SUBSCRIPTION} is no longer open with session`,
  ]);
});

test('what takes less, or answers something else, is told; what only adds is not', () => {
  const added = breaking(({ paths }) => {
    paths['/api/v1/new'] = paths['/api/v1/meters'];
    const create = paths[SUBSCRIPTION].post;
    create.requestBody.content['application/json'].schema.properties.colour = { type: 'string' };
    create.responses['202'] = create.responses['201'];
    const list = paths['/api/v1/webhook-endpoints'].get;
    list.parameters.push({ in: 'query', name: 'short', schema: { type: 'boolean' } });
    const content = list.responses['200'].content['application/json'];
    content.schema = { anyOf: [content.schema, { type: 'object', 'x-only-with': ['short'] }] };
  });
  expect(added).toEqual([]);
  const told = breaking(({ paths, components }) => {
    const { properties } = paths[SUBSCRIPTION].post.requestBody.content['application/json'].schema;
    properties.billing_alignment.enum = ['calendar'];
    properties.external_id.anyOf[0].maxLength = 10;
    const { Invoice: invoice } = components.schemas;
    invoice.properties.total = { type: 'number' };
    invoice.required = invoice.required.filter((each: string) => each !== 'status');
    const content = paths['/api/v1/alerts/{id}'].get.responses['200'].content['application/json'];
    content.schema = { anyOf: [content.schema, { type: 'array', 'x-only-with': ['id'] }] };
  });
  expect(told.toSorted()).toEqual([
    'GET /api/v1/alerts/{id} → 200 may be array',
    'GET /api/v1/invoices → 200.data[].status may be missing',
    'GET /api/v1/invoices → 200.data[].total may be number',
    'GET /api/v1/subscriptions/{id}/invoices → 200.data[].status may be missing',
    'GET /api/v1/subscriptions/{id}/invoices → 200.data[].total may be number',
    `POST ${SUBSCRIPTION} body.billing_alignment takes no anniversary any more`,
    `POST ${SUBSCRIPTION} body.external_id has a maxLength of 10`,
  ]);
});

test('that a list holds no more items than there are values for it is told only where it takes less', () => {
  const scopesOf = ({ paths }: Loose) =>
    paths['/api/v1/api-keys'].post.requestBody.content['application/json'].schema.properties.scopes;
  const [released, now] = [JSON.parse(served), JSON.parse(served)];
  delete scopesOf(released).maxItems;
  expect(findBreakingChanges(released, now)).toEqual([]);
  scopesOf(now).maxItems = 1;
  expect(findBreakingChanges(released, now)).toEqual(['POST /api/v1/api-keys body.scopes has a maxItems of 1']);
});

test('webhooks, codes of refusals, headers of answers and defaults stay', () => {
  const content = ({ webhooks }: Loose, type: string) =>
    webhooks[type].post.requestBody.content['application/json'].schema.properties.data;
  const added = breaking((document) => {
    document.webhooks['invoice.new'] = document.webhooks['invoice.paid'];
    content(document, 'invoice.paid').properties.colour = { type: 'string' };
    document.paths[SUBSCRIPTION].get.responses['422'].description += ', newly_refused';
  });
  expect(added).toEqual([]);
  const told = breaking((document) => {
    delete document.webhooks['usage.unpriced'];
    document.webhooks['invoice.paid'].post.parameters.pop();
    delete content(document, 'invoice.paid').properties.total;
    content(document, 'invoice.voided').properties.total = { type: 'number' };
    const { post } = document.paths[SUBSCRIPTION];
    post.responses['409'].description = post.responses['409'].description.replace('plan_inactive, ', '');
    post.requestBody.content['application/json'].schema.properties.billing_alignment.default = 'calendar';
    delete document.paths['/api/v1/customers/{id}'].get.responses['200'].headers.ETag;
  });
  expect(told.toSorted()).toEqual([
    'GET /api/v1/customers/{id} → 200 header ETag is no longer there',
    `POST ${SUBSCRIPTION} body.billing_alignment has another default: "calendar"`,
    `POST ${SUBSCRIPTION} → 409 is no longer plan_inactive`,
    'webhook invoice.paid body.data.total is no longer there',
    'webhook invoice.paid header webhook-signature is no longer sent',
    'webhook invoice.voided body.data.total may be number',
    'webhook usage.unpriced is no longer there',
  ]);
});

test('what is deprecated without its headers, a year ahead or a line in the changelog is told', () => {
  const untold = (change: (operation: Loose) => void, changelog: string) => {
    const document = JSON.parse(served);
    const operation = document.paths[SUBSCRIPTION].get;
    operation.deprecated = true;
    change(operation);
    return findUntoldDeprecations(document, changelog);
  };
  const until = (sunset: string) => (operation: Loose) => {
    const examples = { Deprecation: '@1801353600', Sunset: sunset, Link: '</docs>; rel="successor-version"' };
    operation.responses['200'].headers = Object.fromEntries(
      Object.entries(examples).map(([name, example]) => [name, { schema: { type: 'string' }, example }]),
    );
  };
  const told = '## [Unreleased]\n\n### Deprecated\n\n- `GET /subscriptions`: take another.\n\n### Fixed\n\n- All.\n';
  expect(findUntoldDeprecations(JSON.parse(served), told)).toEqual([]);
  expect(untold(until('Tue, 01 Feb 2028 00:00:00 GMT'), told)).toEqual([]);
  expect(untold(() => {}, told)).toEqual([
    'GET /subscriptions is deprecated, and its 200 has no Deprecation, Sunset, Link: give its route config.deprecated',
  ]);
  expect(untold(until('Sat, 01 Jan 2028 00:00:00 GMT'), told)).toEqual([
    'GET /subscriptions may be gone less than a year after it is deprecated',
  ]);
  expect(untold(until('Tue, 01 Feb 2028 00:00:00 GMT'), told.replace('Deprecated', 'Changed'))).toEqual([
    'GET /subscriptions is not named under Deprecated in CHANGELOG.md, as `GET /subscriptions`',
  ]);
});
