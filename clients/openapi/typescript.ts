// Writes packages/sdk/src/openapi.ts, billing.ts and billing-events.ts. test/catalog/client-types.test.ts keeps the files true, and writes them anew with `-u`.

import { readBilling, type Union } from './billing.ts';
import { readAnswers, readQueries, type Document, type Field, type Named, type Type } from './reads.ts';
import { wrap } from './wrap.ts';

const HEADER = `// What the reads of the API ask and answer, in its own words. Made of its document by clients/openapi/typescript.ts: change
// that, or the API, and \`npx vitest run client-types -u\`. Fields that Weir adds later are there at run time.

import type { JsonValue } from './event.ts';
`;

/** What the client takes beside the text of a query, and writes as such. */
const ALSO_TAKEN: Record<string, string> = { start_date: 'Date', end_date: 'Date', quantity: 'number' };

/** Returns the answers and queries of an OpenAPI document as TypeScript. */
export function typescriptReads(document: Document): string {
  const [window, ...others] = readQueries(document).map((query) => ({
    ...query,
    fields: query.fields.map(asParameter),
  }));
  if (window === undefined) throw new Error('There are no queries.');
  const queries = [window, ...others.map((query) => asExtension(query, window))];
  const answers = readAnswers(document).map((answer) => ({ ...answer, fields: answer.fields.map(asProperty) }));
  return [HEADER, ...[...queries, ...answers].map(writeInterface)].join('\n');
}

const MADE = `Made of its document by clients/openapi/typescript.ts: change
// that, or the API, and \`npx vitest run client-types -u\`. Fields that Weir adds later are there at run time.
`;

const BILLING = `// What the API answers about billing, in its own words. ${MADE}
import type { JsonValue } from './event.ts';
`;

const EVENTS = `// What the events of billing hold, in the API's own words. ${MADE}
import type { Payment } from './billing.ts';
`;

/** Returns what an OpenAPI document has of billing as two files of TypeScript. */
export function typescriptBilling(document: Document): { billing: string; events: string } {
  const { objects, unions, events } = readBilling(document);
  const isData = ({ name }: Named): boolean => events.some((each) => each.name === name);
  const write = (object: Named): string => writeInterface({ ...object, fields: object.fields.map(asProperty) });
  const answered = objects.filter((each) => !isData(each)).map(write);
  const byType = events.flatMap(({ name, types }) => types.map((type) => ({ text: `'${type}': ${name};`, about: '' })));
  const map = `/** What an event of the feed holds, by its type. */\n${writeInterface({ name: 'EventData', fields: byType })}`;
  return {
    billing: [BILLING, ...answered, ...unions.map(writeUnion)].join('\n'),
    events: [EVENTS, ...objects.filter(isData).map(write), map].join('\n'),
  };
}

function writeUnion({ name, of }: Union): string {
  const line = `export type ${name} = ${of.join(' | ')};\n`;
  return line.length <= 121 ? line : `export type ${name} =\n${of.map((each) => `  | ${each}`).join('\n')};\n`;
}

interface Written {
  name: string;
  fields: { text: string; about: string }[];
}

/** A query that asks for a window among other things, as one that extends it; any other query as it is. */
function asExtension(query: Written, window: Written): Written {
  const asked = new Set(window.fields.map((field) => JSON.stringify(field)));
  const fields = query.fields.filter((field) => !asked.has(JSON.stringify(field)));
  const isWhole = fields.length === query.fields.length - window.fields.length;
  return isWhole ? { name: `${query.name} extends ${window.name}`, fields } : query;
}

function asParameter({ name, type, isRequired, about }: Field) {
  const also = ALSO_TAKEN[name] === undefined ? [] : [ALSO_TAKEN[name]];
  const taken = [writeType(type), ...also, ...(isRequired ? [] : ['undefined'])].join(' | ');
  return { text: `${name}${isRequired ? '' : '?'}: ${taken};`, about };
}

function asProperty({ name, type, isRequired, about }: Field) {
  return { text: `${name}${isRequired ? '' : '?'}: ${writeType(type)};`, about };
}

function writeInterface({ name, fields }: Written): string {
  const lines = fields.flatMap(({ text, about }) => [...writeComment(about), text]);
  return [`export interface ${name} {`, ...lines.map((line) => `  ${line}`), '}', ''].join('\n');
}

function writeComment(about: string): string[] {
  if (about === '') return [];
  const [first = '', ...others] = wrap(about, 110);
  if (others.length === 0) return [`/** ${first} */`];
  return ['/**', ...[first, ...others].map((line) => ` * ${line}`), ' */'];
}

function writeType(type: Type): string {
  switch (type.is) {
    case 'string':
    case 'boolean':
    case 'null':
      return type.is;
    case 'integer':
      return 'number';
    case 'json':
      return 'JsonValue';
    case 'words':
      return type.words.map((word) => `'${word}'`).join(' | ');
    case 'list':
      return `${writeType(type.of)}[]`;
    case 'map':
      return `Record<string, ${writeType(type.of)}>`;
    case 'either':
      return type.of.map(writeType).join(' | ');
    case 'named':
      return type.name;
  }
}
