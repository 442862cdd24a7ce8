// Writes clients/python/weir/_openapi.py and _billing.py. test/catalog/client-types.test.ts keeps the files true, and writes them anew with `-u`.

import { readBilling, type EventData, type Union } from './billing.ts';
import { readAnswers, type Document, type Field, type Named, type Type } from './reads.ts';
import { wrap } from './wrap.ts';

const HEADER = `"""What the reads of the API answer, in its own words. Decimals are exact, as text: \`\`Decimal(usage["total_usage"])\`\`.

Made of its document by clients/openapi/python.ts: change that, or the API, and \`\`npx vitest run client-types -u\`\`.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union
`;

/** Returns the answers of an OpenAPI document as TypedDicts, for Python 3.9 too, which has no NotRequired. */
export function pythonReads(document: Document): string {
  return [HEADER, ...readAnswers(document).map(writeDict)].join('\n\n');
}

const BILLING = `"""What the API says of billing, in its own words. Amounts are exact, as text: \`\`Decimal(invoice["total"])\`\`.

Made of its document by clients/openapi/python.ts: change that, or the API, and \`\`npx vitest run client-types -u\`\`.
"""

from __future__ import annotations

from typing import Any, Dict, List, Literal, Optional, TypedDict, Union
`;

const TEST = `class TestWebhookData(TypedDict):
    sequence: None
    actor: str


class TestWebhook(TypedDict):
    id: str
    type: Literal["webhook.test"]
    timestamp: str
    data: TestWebhookData
`;

/** Returns what an OpenAPI document has of billing as TypedDicts: a webhook and an event of the feed are told apart by their type. */
export function pythonBilling(document: Document): string {
  const { objects, unions, events } = readBilling(document);
  const all = [
    ...unions,
    { name: 'BillingEvent', of: events.map((each) => `${subjectOf(each)}Event`) },
    { name: 'Webhook', of: [...events.map((each) => `${subjectOf(each)}Webhook`), 'TestWebhook'] },
  ];
  return [BILLING, ...objects.map(writeDict), ...events.map(writeEvent), TEST, all.map(writeUnion).join('')].join(
    '\n\n',
  );
}

const subjectOf = ({ name }: EventData): string => name.replace(/Data$/, '');

/** The data of a webhook has what the event itself has in the feed. */
function writeEvent(event: EventData): string {
  const { name, types } = event;
  const type = writeType({ is: 'words', words: types });
  const subject = subjectOf(event);
  return [
    `class ${subject}WebhookData(${name}):\n    #: In which order events have happened.\n    sequence: int\n    actor: str\n`,
    `class ${subject}Webhook(TypedDict):\n    #: The same each time that it is sent: what was seen is dropped by it.\n    id: str\n    type: ${type}\n    timestamp: str\n    data: ${subject}WebhookData\n`,
    `class ${subject}Event(TypedDict):\n    sequence: int\n    type: ${type}\n    created_at: str\n    actor: str\n    data: ${name}\n`,
  ].join('\n\n');
}

function writeUnion({ name, of }: Union): string {
  return `${name} = Union[\n${of.map((each) => `    ${each},\n`).join('')}]\n`;
}

function writeDict({ name, fields }: Named): string {
  const required = fields.filter(({ isRequired }) => isRequired);
  if (required.length === fields.length) return writeClass(`${name}(TypedDict)`, fields);
  const others = fields.filter(({ isRequired }) => !isRequired);
  return [writeClass(`_${name}(TypedDict)`, required), writeClass(`${name}(_${name}, total=False)`, others)].join(
    '\n\n',
  );
}

function writeClass(head: string, fields: readonly Field[]): string {
  const lines = fields.flatMap(({ name, type, about }) => [
    ...wrap(about, 110).map((line) => `#: ${line}`),
    `${name}: ${writeType(type)}`,
  ]);
  return [`class ${head}:`, ...lines.map((line) => `    ${line}`), ''].join('\n');
}

function writeType(type: Type): string {
  switch (type.is) {
    case 'string':
      return 'str';
    case 'integer':
      return 'int';
    case 'boolean':
      return 'bool';
    case 'null':
      return 'None';
    case 'json':
      return 'Any';
    case 'words':
      return `Literal[${type.words.map((word) => `"${word}"`).join(', ')}]`;
    case 'list':
      return `List[${writeType(type.of)}]`;
    case 'map':
      return `Dict[str, ${writeType(type.of)}]`;
    case 'either': {
      const kinds = type.of.filter(({ is }) => is !== 'null').map(writeType);
      const written = kinds.length === 1 ? kinds.join('') : `Union[${kinds.join(', ')}]`;
      return kinds.length === type.of.length ? written : `Optional[${written}]`;
    }
    case 'named':
      return type.name;
  }
}
