// Writes clients/python/weir/_openapi.py. test/catalog/client-types.test.ts keeps the file true, and writes it anew with `-u`.

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
