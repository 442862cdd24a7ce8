// An answer that is made of rows is `answerOf<Row>()`, so that a column which it lacks does not compile. What is none stands here.

import { readdir, readFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const api = fileURLToPath(new URL('../../apps/api/src', import.meta.url));

/** Reckoned, put together of several reads, or written down by the API itself: docs/decisions/0067. */
const OF_NO_ROW = [
  'AcceptedEvent',
  'Account',
  'BatchItemResult',
  'BillingEvent',
  'CreatedInvitation',
  'CursorMeta',
  'Entitlement',
  'EventReceipt',
  'MeterUsage',
  'NotComputed',
  'Overview',
  'PageMeta',
  'PlanChangePreview',
  'Problem',
  'SubscriptionPreview',
  'System',
  'WidgetBalance',
  'WidgetBillingPeriod',
  'WidgetEvent',
  'WidgetInvoiceLine',
  'WidgetLimit',
  'WidgetPlan',
  'WidgetToken',
  'WidgetUsage',
];

test('a schema of an answer that is no answerOf is one of those that are made of no row', async () => {
  const files = (await readdir(api, { recursive: true })).filter((file) => file.endsWith('.ts'));
  const texts = await Promise.all(files.map((file) => readFile(`${api}/${file}`, 'utf8')));
  const declared = texts.flatMap((text) => text.split(/^(?:export )?const /m).slice(1));
  const plain = declared.flatMap((code) => {
    const [, id] = /^\w+ = z\s*\.object\([\s\S]*\.meta\(\{\s*id: '(\w+)'/.exec(code) ?? [];
    return id === undefined ? [] : [id];
  });
  expect(plain.toSorted()).toEqual(OF_NO_ROW);
});
