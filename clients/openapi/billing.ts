// What the clients know of billing, as the API's document has it: named objects, unions of them, and what the events of the feed hold.
// typescript.ts and python.ts write them down. A new one begins here, with its name.

import { readObject, type Document, type Named, type Schema } from './reads.ts';

/** Components of the document. */
const COMPONENTS = [
  'Party',
  'Plan',
  'PlanFeature',
  'PlanWithFeatures',
  'Charge',
  'ChargeTerms',
  'Subscription',
  'Invoice',
  'NotComputed',
  'InvoiceLine',
  'InvoiceWithLines',
  'Payment',
  'Credit',
];

/** Objects that have no name in the document, by their fields. */
const PARTS: Record<string, string> = {
  'up_to unit_price flat_fee': 'Tier',
  'up_to quantity exact_amount': 'LineTier',
  packages: 'LinePackages',
};

/** What events hold, by the first type of those that hold it. */
const DATA: Record<string, string> = {
  'invoice.created': 'DraftData',
  'invoice.finalized': 'InvoiceData',
  'invoice.payment_recorded': 'InvoicePaymentData',
  'invoice.paid': 'PaidInvoiceData',
  'invoice.voided': 'VoidedInvoiceData',
  'subscription.created': 'SubscriptionData',
  'credit.granted': 'GrantedCreditData',
  'credit.voided': 'VoidedCreditData',
  'usage.unpriced': 'UnpricedUsageData',
  'usage.threshold_reached': 'ReachedThresholdData',
  'webhook_endpoint.disabled': 'DisabledEndpointData',
};

/** A webhook that is no event of the feed. */
const TEST = 'webhook.test';

export interface Union {
  name: string;
  of: string[];
}

/** What all events of some types hold. */
export interface EventData {
  name: string;
  types: string[];
}

export interface Billing {
  objects: Named[];
  unions: Union[];
  events: EventData[];
}

/** Returns what the clients know of billing. Throws where the document lacks some of it, or has an object without a name here. */
export function readBilling(document: Document): Billing {
  const objects = new Map<string, Schema>();
  const names = new Map<string, string>();
  const add = (name: string, schema: Schema): string => {
    if (!objects.has(name)) objects.set(name, schema);
    names.set(JSON.stringify(schema), name);
    for (const each of Object.values(schema.properties ?? {})) visit(each);
    return name;
  };
  const visit = (schema: Schema): void => {
    if (schema.properties !== undefined) add(nameOf(schema, objects), schema);
    const { anyOf = [], oneOf = [], items } = schema;
    for (const each of [...anyOf, ...oneOf, ...(items === undefined ? [] : [items])]) visit(each);
  };
  const unions = COMPONENTS.flatMap((name): Union[] => {
    const schema = document.components.schemas[name];
    if (schema === undefined) throw new Error(`The document has no ${name}.`);
    names.set(JSON.stringify(schema), name);
    if (schema.properties === undefined)
      return [{ name, of: kindsOf(schema).map((kind) => add(`${wordOf(kind)}${name}`, kind)) }];
    add(name, schema);
    return [];
  });
  const events = eventsOf(document, add);
  return {
    objects: [...objects].map(([name, schema]) => readObject(document, name, schema, names)),
    unions,
    events,
  };
}

/** What the events of the feed hold: the data of their webhooks, without what says which event it is. */
function eventsOf(document: Document, add: (name: string, schema: Schema) => string): EventData[] {
  const events = new Map<string, EventData>();
  for (const [type, { post }] of Object.entries(document.webhooks)) {
    if (type === TEST) continue;
    const { properties = {}, required = [] } =
      post.requestBody.content['application/json']?.schema.properties?.['data'] ?? {};
    const { sequence: _sequence, actor: _actor, ...own } = properties;
    const key = JSON.stringify([own, required]);
    const known = events.get(key);
    if (known !== undefined) known.types.push(type);
    else {
      const name = DATA[type];
      if (name === undefined) throw new Error(`The data of ${type} needs a name in billing.ts.`);
      events.set(key, { name: add(name, { properties: own, required }), types: [type] });
    }
  }
  return [...events.values()];
}

/** The objects that a union is one of. */
function kindsOf(schema: Schema): Schema[] {
  const { oneOf, anyOf = oneOf } = schema;
  return anyOf === undefined ? [schema] : anyOf.flatMap(kindsOf);
}

/** By what a kind of a charge is told from the others, as a word: `Fixed`, `PerUnit`, `GraduatedOrVolume`. */
function wordOf({ properties = {} }: Schema): string {
  const { const: word, enum: words = [word ?? ''] } = properties['model'] ?? properties['type'] ?? {};
  return words.map((each) => each.toLowerCase().split('_').map(capitalized).join('')).join('Or');
}

const capitalized = (word: string): string => word.slice(0, 1).toUpperCase() + word.slice(1);

function nameOf({ properties = {} }: Schema, objects: ReadonlyMap<string, Schema>): string {
  const fields = Object.keys(properties).join(' ');
  const known = [...objects].find(([, each]) => Object.keys(each.properties ?? {}).join(' ') === fields);
  const name = known?.[0] ?? PARTS[fields];
  if (name === undefined) throw new Error(`An object of ${fields} needs a name in billing.ts.`);
  return name;
}
