// Items of lists in the examples of the document: lines of the invoice that example-values.ts tells of, and the usage behind them.

import { id, IDS } from './example-ids.ts';

export const baseLine = {
  id: id('1b'),
  kind: 'FIXED',
  description: 'Base fee',
  charge_id: id('17'),
  charge: { type: 'FIXED', display_name: 'Base fee', meter_id: null, timing: 'in_arrears', unit_price: '49.00' },
  cycle: 0,
  period_start: '2026-11-01T00:00:00.000Z',
  period_end: '2026-12-01T00:00:00.000Z',
  days: null,
  quantity: null as string | null,
  event_count: null as number | null,
  detail: null,
  exact_amount: '49',
  billed_before: '0.00',
  amount: '49.00',
  waived: null as string | null,
  closing: 7,
  rating_version: 2,
};

const usageLine = {
  ...baseLine,
  id: id('0b'),
  kind: 'USAGE',
  description: 'API requests',
  charge_id: id('07'),
  charge: {
    type: 'USAGE',
    display_name: 'API requests',
    meter_id: IDS['meter_id'],
    model: 'per_unit',
    unit_price: '0.01',
    included_units: null,
    minimum_amount: null,
    maximum_amount: null,
  },
  quantity: '1250',
  event_count: 1250,
  exact_amount: '12.5',
  amount: '12.50',
};

const lines = [baseLine, usageLine];

const widgetLines = lines.map((line) => ({
  id: line.id,
  kind: line.kind,
  description: line.description,
  charge: line.charge,
  period_start: line.period_start,
  period_end: line.period_end,
  days: line.days,
  quantity: line.quantity,
  billed_before: line.billed_before,
  amount: line.amount,
  waived: line.waived,
  has_events: line.quantity !== null,
}));

const days = [
  { period: '2026-11-19', period_start: '2026-11-19T00:00:00.000Z', usage: '700', event_count: 700 },
  { period: '2026-11-20', period_start: '2026-11-20T00:00:00.000Z', usage: '550', event_count: 550 },
];

/** Items of a list, by the component that it is of and its field. */
export const LISTS: Record<string, readonly unknown[]> = {
  'InvoiceWithLines lines': lines,
  'listLinesOfInvoice 200 data': lines,
  'WidgetInvoiceWithLines lines': widgetLines,
  'listLinesOfWidgetInvoice 200 data': widgetLines,
  'InvoicePreview lines': lines.map((line) => ({ ...line, id: undefined })),
  'Recomputation lines': lines,
  'MeterUsage grouped_data': days,
  'LineUsage grouped_data': days,
};
