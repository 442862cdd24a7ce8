import { Refusal, type ErrorCode, type RefusalFields } from '@weir/shared/errors';
import { IDS } from './example-ids.ts';
import { problemOf } from '../problem.ts';

const REQUEST_ID = '5f0f7a1c-5c0e-4f7e-9d0a-0c1d2e3f4a5b';

const NOTHING_KEPT = { outcome: 'not_accepted' } as const;

/** Details of those that most clients meet; of the others the title says enough. */
const DETAILS: Partial<Record<ErrorCode, [detail: string, fields?: RefusalFields]>> = {
  malformed_json: ['The body is not JSON that can be taken: Unexpected end of JSON input.'],
  unauthenticated: ['Send an API key in the header X-API-Key.'],
  missing_scope: ['This API key does not have the scope usage.write: use or create one that has it.'],
  missing_role: ['This takes the role biller: the role of Nightly report is viewer.'],
  cross_origin: ['The browser says that this request comes from another site: send it from a page of Weir.'],
  not_found: ['There is no such thing in your organization: check the id in the path.'],
  meter_not_found: ['Your organization has no meter with this meter_token: check the token.'],
  duplicate_event: [
    'An event with this idempotency_key is already accepted: there is nothing to do.',
    { id: IDS['EventReceipt'] ?? '' },
  ],
  precondition_failed: ['Somebody has changed it since the ETag in If-Match was read: read it again.'],
  payload_too_large: ['The body is too large: send less in one request.'],
  unsupported_media_type: ['Send the body as JSON in UTF-8, with the header Content-Type: application/json.'],
  invalid_request: ['name is required.', { errors: [{ path: 'name', message: 'is required' }] }],
  rate_limited: ['More is asked for at the same time than one caller may: try again in 1 s.', { retryAfterSeconds: 1 }],
  unavailable: ['The queue is nearly full, and nothing was kept: send the event again later.', NOTHING_KEPT],
  shutting_down: ['This process is shutting down: send requests to another one.', NOTHING_KEPT],
};

/** Returns an example of each of these codes. */
export function problemExamples(codes: Iterable<string>): Record<string, { summary: string; value: object }> {
  return Object.fromEntries(
    [...codes].toSorted().map((name) => {
      const code = name as ErrorCode;
      const { title } = problemOf(new Refusal(code, ''), REQUEST_ID);
      const [detail = `${title}.`, fields] = DETAILS[code] ?? [];
      return [code, { summary: title, value: problemOf(new Refusal(code, detail, fields), REQUEST_ID) }];
    }),
  );
}
