/** An answer of the API. */
export interface Answer {
  /** Method and path, for messages. */
  request: string;
  status: number;
  body: unknown;
  /** The `Set-Cookie` headers. */
  cookies: string[];
}

/** Sends one request under `/api/v1`. Throws only when there is no answer, or one that is not JSON. */
export async function request(
  baseUrl: string,
  method: 'GET' | 'POST',
  path: string,
  headers: Record<string, string>,
  body?: unknown,
): Promise<Answer> {
  const answer = await fetch(`${baseUrl}/api/v1${path}`, {
    method,
    headers: body === undefined ? headers : { ...headers, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    signal: AbortSignal.timeout(30_000),
  });
  return {
    request: `${method} ${path}`,
    status: answer.status,
    body: await answer.json(),
    cookies: answer.headers.getSetCookie(),
  };
}

/** The body of an answer that is as it should be. Throws on any other status. */
export function expectStatus(answer: Answer, status: number): unknown {
  if (answer.status === status) return answer.body;
  throw new Error(
    `The demo could not be made: ${answer.request} answered ${answer.status} ${JSON.stringify(answer.body)}`,
  );
}
