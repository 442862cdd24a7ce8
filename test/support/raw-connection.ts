import { connect, type Socket } from 'node:net';
import type { Answer } from './harness.ts';

/** A connection to an API, for bytes that no client of HTTP would send. Half open it stays when the API has ended its side. */
export function connectTo(baseUrl: string, { allowHalfOpen = false } = {}): Socket {
  const { hostname, port } = new URL(baseUrl);
  return connect({ port: Number(port), host: hostname, allowHalfOpen });
}

/** Sends bytes as they are over a connection of their own, and reads all until the server closes it. */
export async function exchange(baseUrl: string, bytes: string | Uint8Array, isLast = false): Promise<Answer[]> {
  const chunks: Buffer[] = [];
  const socket = connectTo(baseUrl);
  await new Promise<void>((resolve, reject) => {
    socket.on('connect', () => (isLast ? socket.end(bytes) : socket.write(bytes)));
    socket.on('data', (chunk) => chunks.push(chunk));
    // A server that closes while bytes are still on their way resets the connection, also after it has answered.
    socket.on('error', (error) => chunks.length === 0 && reject(error));
    socket.on('close', () => resolve());
  });
  return answersOf(Buffer.concat(chunks));
}

/** The one answer to bytes that ask for one; fails when there is none, or another one behind it. */
export async function talk(baseUrl: string, bytes: string | Uint8Array, isLast = false): Promise<Answer> {
  const [answer, ...others] = await exchange(baseUrl, bytes, isLast);
  if (answer === undefined || others.length > 0) throw new Error(`one answer was due, and ${others.length + 1} came`);
  return answer;
}

/** Takes answers apart, each with a Content-Length. */
function answersOf(bytes: Buffer): Answer[] {
  const answers: Answer[] = [];
  for (let at = 0; at < bytes.length;) {
    const headEnd = bytes.indexOf('\r\n\r\n', at);
    const [statusLine = '', ...lines] = bytes
      .subarray(at, headEnd < 0 ? undefined : headEnd)
      .toString('utf8')
      .split('\r\n');
    const headers = new Headers(lines.map((line) => line.split(': ', 2) as [string, string]));
    const end = headEnd + 4 + Number(headers.get('content-length') ?? 0);
    if (headEnd < 0 || end > bytes.length) throw new Error(`this is cut off: ${bytes.subarray(at).toString('utf8')}`);
    const body = bytes.subarray(headEnd + 4, end).toString('utf8');
    answers.push({ status: Number(statusLine.split(' ')[1]), headers, body: body === '' ? {} : JSON.parse(body) });
    at = end;
  }
  return answers;
}
