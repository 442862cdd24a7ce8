// Loaded before a program, as `shifted-clock-main.js?offset=3600000`: its clock is then so many milliseconds ahead of the true one.
// Time that is only measured (`performance.now`, timers) passes as ever, as it does on a machine whose clock is wrong.

const offset = Number(new URL(import.meta.url).searchParams.get('offset'));
if (!Number.isSafeInteger(offset) || offset === 0)
  throw new Error('shifted-clock-main.js is to be loaded with an offset');

const TrueDate = Date;
const now = () => TrueDate.now() + offset;

globalThis.Date = new Proxy(TrueDate, {
  apply: () => new TrueDate(now()).toString(),
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [now()] : args, newTarget) as Date,
  get: (target, property, receiver) =>
    property === 'now' ? now : (Reflect.get(target, property, receiver) as unknown),
});
