import { isJsonObject, parseExact } from '../api/exact-json.ts';
import { ApiError } from '../api/problem.ts';

/** Reads metadata that was typed. Throws what a refusal of the API looks like, so that it stands at the field. */
export function parseMetadata(text: string): Record<string, unknown> {
  let parsed: unknown;
  try {
    parsed = parseExact(text);
  } catch (error) {
    parsed = error;
  }
  if (isJsonObject(parsed) && !(parsed instanceof Error)) return parsed;
  const message =
    parsed instanceof Error
      ? `It cannot be read, so a quote, a comma or a brace may be missing: ${parsed.message}`
      : 'Write it as names and values in braces: { "user_id": "ann" }';
  throw new ApiError({
    code: 'invalid_request',
    detail: message,
    errors: [{ path: 'metadata', message }],
  });
}
