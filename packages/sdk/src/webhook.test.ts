import { createHmac, randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { verifyWebhook } from './webhook.ts';

const secret = randomBytes(32);
const before = randomBytes(32);
const webhookSecretText = (bytes: Buffer) => `whsec_${bytes.toString('base64')}`;
const NOW = 1_795_000_000;
const body = JSON.stringify({
  type: 'invoice.paid',
  timestamp: 'then',
  data: { sequence: 7, actor: 'weir', note: 'Zoë ✓' },
});
/** As Standard Webhooks has it. */
function signWebhook(
  { id, atSeconds, body: text }: { id: string; atSeconds: number; body: string },
  secrets: Buffer[],
) {
  const signatures = secrets.map(
    (each) => `v1,${createHmac('sha256', each).update(`${id}.${atSeconds}.${text}`).digest('base64')}`,
  );
  return {
    'webhook-id': id,
    'webhook-timestamp': String(atSeconds),
    'webhook-signature': signatures.join(' '),
  };
}

const now = () => NOW * 1_000;
const verify = (
  headers: object,
  text: string | Uint8Array = body,
  secrets: string | string[] = webhookSecretText(secret),
) => verifyWebhook(text, headers as Record<string, string>, secrets, { now });
const signed = signWebhook({ id: 'msg_1', atSeconds: NOW, body }, [secret]);
const refused = expect.objectContaining({ code: 'webhook_not_verified', status: 0, transient: false });

test('what is signed comes back with its id, whatever holds the body and the headers', () => {
  const event = { id: 'msg_1', ...JSON.parse(body) };
  expect(verify(signed)).toEqual(event);
  expect(verify(new Headers(signed), Buffer.from(body))).toEqual(event);
  expect(
    verify({
      'Webhook-Id': 'msg_1',
      'WEBHOOK-TIMESTAMP': String(NOW),
      'Webhook-Signature': [signed['webhook-signature']],
    }),
  ).toEqual(event);
});

test('while a secret is rotated either one is enough, on either side', () => {
  const both = signWebhook({ id: 'msg_1', atSeconds: NOW, body }, [secret, before]);
  expect(verify(both, body, webhookSecretText(before)).id).toBe('msg_1');
  expect(verify(signed, body, [webhookSecretText(before), webhookSecretText(secret)]).id).toBe('msg_1');
});

test('one byte, another secret, another id or a signature of another form is refused', () => {
  for (const [headers, text, secrets] of [
    [signed, `${body} `, undefined],
    [signed, body, webhookSecretText(before)],
    [{ ...signed, 'webhook-id': 'msg_2' }, body, undefined],
    [{ ...signed, 'webhook-signature': signed['webhook-signature'].replace('v1,', 'v1a,') }, body, undefined],
    [{ ...signed, 'webhook-signature': 'v1,' }, body, undefined],
    [{ ...signed, 'webhook-signature': '' }, body, undefined],
    [{}, body, undefined],
  ] as const)
    expect(() => verify(headers, text, secrets)).toThrow(refused);
});

test('what was signed long ago, or far ahead, is refused, and so is what is no time', () => {
  const at = (seconds: number) => signWebhook({ id: 'msg_1', atSeconds: NOW + seconds, body }, [secret]);
  for (const seconds of [-300, 300]) expect(verify(at(seconds)).id).toBe('msg_1');
  for (const seconds of [-301, 301]) expect(() => verify(at(seconds))).toThrow(refused);
  for (const time of ['', 'NaN', '-1', '1e9', `${NOW}.5`])
    expect(() => verify({ ...signed, 'webhook-timestamp': time })).toThrow(refused);
});

test('a secret that is none is a mistake of the program, and no webhook', () => {
  for (const none of ['', 'org_live_x', 'whsec_', []]) expect(() => verify(signed, body, none)).toThrow(RangeError);
});

test('a tolerance that is no number tolerates nothing, and a part of a secret is none', () => {
  const old = signWebhook({ id: 'msg_1', atSeconds: NOW - 9_999, body }, [secret]);
  const options = { now, toleranceSeconds: Number('') / 0 };
  expect(() => verifyWebhook(body, old, webhookSecretText(secret), options)).toThrow(refused);
  for (const part of ['whsec_A', webhookSecretText(secret).slice(0, -1)])
    expect(() => verify(signed, body, part)).toThrow(RangeError);
});

test('the id is that of the header, whatever the body has', () => {
  const other = JSON.stringify({ id: 'other', ...JSON.parse(body) });
  const headers = signWebhook({ id: 'msg_1', atSeconds: NOW, body: other }, [secret]);
  expect(verify(headers, other).id).toBe('msg_1');
});
