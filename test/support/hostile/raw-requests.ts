// What comes over a connection and is no request that can be served, as bytes.

const json = 'Content-Type: application/json';

/** The bytes of a track request with these header lines after those of a good one, and with this body. */
export type RequestOf = (lines: string[], body?: string) => string;

export const rawRequests: [
  title: string,
  bytes: (requestOf: RequestOf) => string | Uint8Array,
  status?: number,
  code?: string,
][] = [
  ['a greeting', () => 'hello\r\n\r\n'],
  ['the beginning of TLS', () => Uint8Array.from([0x16, 3, 1, 2, 0, 1, 0, 1, 0xfc, 3, 3])],
  ['the beginning of HTTP/2', () => 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
  ['the beginning of SSH', () => 'SSH-2.0-OpenSSH_9.6\r\n'],
  ['an unknown method', () => 'BREW / HTTP/1.1\r\nHost: weir\r\n\r\n'],
  ['a method in lower case', () => 'get /healthz HTTP/1.1\r\nHost: weir\r\n\r\n'],
  ['a method of 20 KB', () => `${'X'.repeat(20_000)} / HTTP/1.1\r\nHost: weir\r\n\r\n`],
  ['a request to a proxy', () => 'CONNECT weir:443 HTTP/1.1\r\nHost: weir:443\r\n\r\n'],
  ['another protocol', () => 'GET / SPDY/3\r\nHost: weir\r\n\r\n'],
  ['a version that there is not', () => 'GET /healthz HTTP/1.9\r\nHost: weir\r\n\r\n'],
  ['no path', () => 'GET  HTTP/1.1\r\nHost: weir\r\n\r\n'],
  ['a space in the path', () => 'GET /heal thz HTTP/1.1\r\nHost: weir\r\n\r\n'],
  ['a NUL byte in the path', () => 'GET /healthz\0 HTTP/1.1\r\nHost: weir\r\n\r\n'],
  ['UTF-8 in the path', () => 'GET /api/v1/events/ä HTTP/1.1\r\nHost: weir\r\n\r\n'],
  ['no Host', () => 'GET /healthz HTTP/1.1\r\nConnection: close\r\n\r\n'],
  ['two Hosts', (requestOf) => requestOf([json, 'Content-Length: 2', 'Host: other'], '{}')],
  ['two types of body', (requestOf) => requestOf([json, 'Content-Type: text/plain', 'Content-Length: 2'], '{}')],
  ['the same type of body twice', (requestOf) => requestOf([json, json, 'Content-Length: 2'], '{}')],
  ['a header without a colon', () => 'GET / HTTP/1.1\r\nHost weir\r\n\r\n'],
  ['a header without a name', (requestOf) => requestOf([json, ': x'])],
  ['a header whose name is not ASCII', (requestOf) => requestOf([json, 'X-Nöte: x'])],
  ['a space before the colon', (requestOf) => requestOf([json, 'Transfer-Encoding : chunked'])],
  ['a header over two lines', (requestOf) => requestOf([json, 'X-Note: a\r\n b'])],
  ['a NUL byte in a header', (requestOf) => requestOf([json, 'X-Note: a\0b'])],
  ['a control character in a header', (requestOf) => requestOf([json, 'X-Note: a\x01b'])],
  [
    'a lone line feed after each line',
    (requestOf) => requestOf([json, 'Content-Length: 2'], '{}').replaceAll('\r', ''),
  ],
  ['a lone carriage return after each line', (requestOf) => requestOf([json]).replaceAll('\n', '')],
  ['a length that is no number', (requestOf) => requestOf([json, 'Content-Length: abc'])],
  ['a negative length', (requestOf) => requestOf([json, 'Content-Length: -1'])],
  ['a length with a sign', (requestOf) => requestOf([json, 'Content-Length: +2'], '{}')],
  ['a hexadecimal length', (requestOf) => requestOf([json, 'Content-Length: 0x2'], '{}')],
  ['a length past all numbers', (requestOf) => requestOf([json, `Content-Length: ${'9'.repeat(40)}`])],
  ['two different lengths', (requestOf) => requestOf([json, 'Content-Length: 5', 'Content-Length: 6'])],
  ['the same length twice', (requestOf) => requestOf([json, 'Content-Length: 2', 'Content-Length: 2'], '{}')],
  ['a list of lengths', (requestOf) => requestOf([json, 'Content-Length: 2, 2'], '{}')],
  ['a length beside chunks', (requestOf) => requestOf([json, 'Content-Length: 2', 'Transfer-Encoding: chunked'])],
  ['an unknown transfer encoding', (requestOf) => requestOf([json, 'Transfer-Encoding: cow'])],
  [
    'chunks of what is compressed',
    (requestOf) => requestOf([json, 'Transfer-Encoding: gzip, chunked'], '2\r\n{}\r\n0\r\n\r\n'),
  ],
  ['chunks and then something else', (requestOf) => requestOf([json, 'Transfer-Encoding: chunked, identity'])],
  ['chunks twice', (requestOf) => requestOf([json, 'Transfer-Encoding: chunked', 'Transfer-Encoding: chunked'])],
  ['a chunk without a size', (requestOf) => requestOf([json, 'Transfer-Encoding: chunked'], 'zz\r\n{}\r\n0\r\n\r\n')],
  ['a chunk of a negative size', (requestOf) => requestOf([json, 'Transfer-Encoding: chunked'], '-2\r\n{}\r\n')],
  ['a chunk past all sizes', (requestOf) => requestOf([json, 'Transfer-Encoding: chunked'], `${'F'.repeat(17)}\r\n{}`)],
  [
    'a chunk that is longer than its size',
    (requestOf) => requestOf([json, 'Transfer-Encoding: chunked'], '1\r\n{}\r\n0\r\n\r\n'),
  ],
  [
    '20 KB beside the size of a chunk',
    (requestOf) => requestOf([json, 'Transfer-Encoding: chunked'], `2;${'x'.repeat(20_000)}\r\n{}`),
  ],
  [
    'an expectation',
    (requestOf) => requestOf([json, 'Content-Length: 2', 'Expect: cookies'], '{}'),
    417,
    'expectation_failed',
  ],
  ['headers of 20 KB', (requestOf) => requestOf([`X-Note: ${'x'.repeat(20_000)}`]), 431, 'headers_too_large'],
  [
    'trailers of 20 KB',
    (requestOf) =>
      requestOf([json, 'Transfer-Encoding: chunked'], `2\r\n{}\r\n0\r\nX-Note: ${'x'.repeat(20_000)}\r\n\r\n`),
    431,
    'headers_too_large',
  ],
  ['a path of 20 KB', () => `GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: weir\r\n\r\n`, 431, 'headers_too_large'],
  [
    '500 headers of 50 bytes',
    (requestOf) => requestOf(Array(500).fill(`X-Note: ${'x'.repeat(42)}`)),
    431,
    'headers_too_large',
  ],
];
