// The client for services that report usage. Every attempt has a time limit, and is retried while that can help. It carries
// a key for each event, so that a retry never counts twice.

import {
  answerWithheld,
  etagIn,
  readFileOrThrow,
  readOrThrow,
  settle,
  withheldIn,
  type Answer,
  type BatchOutcome,
  type FilePage,
  type Reply,
  type Tracked,
} from './answer.ts';
import { deliver } from './deliver.ts';
import { WeirError, withKeys } from './error.ts';
import { keyAndEncode, type UsageEvent } from './event.ts';
import type { HeldEvent } from './held-event.ts';
import { readMs, readRetries } from './numbers.ts';
import { EventQueue, readLimits, type CloseResult, type QueueCallOptions, type QueueOptions } from './queue.ts';
import type {
  Customer,
  CustomersPage,
  CustomersQuery,
  CustomerUsage,
  Entitlement,
  EventReceipt,
  EventsPage,
  EventsQuery,
  MeterCustomer,
  MeterCustomersPage,
  MeterCustomersQuery,
  MeterUsage,
  WidgetToken,
  WindowQuery,
} from './openapi.ts';
import { queryString, type ByNumber, type EntitlementQuery, type Page, type UsageQuery } from './reads.ts';
import { readHeaders, readRequestKey, type HeaderOptions } from './request-headers.ts';
import { withRetries } from './retry.ts';
import { Transport, type Message } from './transport.ts';

export type { BatchOutcome, Reply, Tracked } from './answer.ts';
export { WeirError, type FieldProblem } from './error.ts';
export { encodeEvent, type JsonValue, type KeyedEvent, type Metadata, type UsageEvent } from './event.ts';
export { BATCH_EVENTS_MAX } from './limits.ts';
export type { OutboxOptions } from './outbox.ts';
export type { CloseResult, QueueCallOptions, QueueOptions } from './queue.ts';
export type {
  CursorMeta,
  Customer,
  CustomersPage,
  CustomersQuery,
  CustomerUsage,
  Entitlement,
  EventCorrection,
  EventReceipt,
  EventsPage,
  EventsQuery,
  MeterCustomer,
  MeterCustomersPage,
  MeterCustomersQuery,
  MeterOfCustomer,
  MeterUsage,
  PageMeta,
  UsageGroup,
  UsagePeriod,
  WidgetToken,
  WindowQuery,
} from './openapi.ts';
export type {
  DisabledEndpointData,
  DraftData,
  EventData,
  GrantedCreditData,
  InvoiceData,
  InvoicePaymentData,
  PaidInvoiceData,
  ReachedThresholdData,
  SubscriptionData,
  UnpricedUsageData,
  VoidedCreditData,
  VoidedInvoiceData,
} from './billing-events.ts';
export type {
  Charge,
  ChargeTerms,
  Credit,
  FixedCharge,
  FixedChargeTerms,
  GraduatedOrVolumeCharge,
  GraduatedOrVolumeChargeTerms,
  Invoice,
  InvoiceLine,
  InvoiceWithLines,
  LinePackages,
  LineTier,
  NotComputed,
  PackageCharge,
  PackageChargeTerms,
  Party,
  Payment,
  PerUnitCharge,
  PerUnitChargeTerms,
  PercentageCharge,
  PercentageChargeTerms,
  Plan,
  PlanFeature,
  PlanWithFeatures,
  Subscription,
  Tier,
} from './billing.ts';
export type {
  AggregationType,
  BillingEvent,
  ByNumber,
  Decimal,
  EntitlementQuery,
  Page,
  PageQuery,
  UsageQuery,
} from './reads.ts';

export type { WarningKind } from './warnings.ts';
export { verifyWebhook, type VerifyOptions, type Webhook, type WebhookHeaders } from './webhook.ts';

export interface WeirClientOptions {
  /**
   * Where the service listens, without `/api/v1`: `https://usage.example.com`. Undefined is what an environment gives that lacks it:
   * then there is no client, and an error that says so.
   */
  baseUrl: string | undefined;
  /** A key with the scope `usage.write` to send events, and `usage.read` to read. Undefined as above, unless there is a `serviceToken`. */
  apiKey?: string | undefined;
  /** The token of a service account: for `request`, and for all that is read. Events and widget tokens take an `apiKey`. */
  serviceToken?: string | undefined;
  /** The limit of one attempt, in milliseconds, from 1; default 5000. Infinity: without a limit. */
  timeoutMs?: number;
  /** Retries after the first attempt; default 4, which is less than 4 s of waiting unless the service asks for more. */
  retries?: number;
  /** Called with each failure that will be retried, before the wait; also with those of the queue. */
  onRetry?: (error: WeirError, delayMs: number) => void;
  /** Used instead of the global `fetch`. */
  fetch?: typeof fetch;
  /** For what `queue` sends in the background. */
  queue?: QueueOptions;
}

export interface RequestOptions extends CallOptions, HeaderOptions {
  /** Written as JSON. Decimals are best written as texts. */
  body?: object;
  query?: Record<string, string | number | boolean | Date | undefined>;
  /** Of a write: the same one makes another call the same request, for 30 days. Without it each call makes one of its own. */
  idempotencyKey?: string;
}

export interface CallOptions {
  /** Ends the call at once with the signal's reason; whether its events were accepted is then unknown. */
  signal?: AbortSignal | undefined;
  /** In place of the client's own. */
  timeoutMs?: number | undefined;
  /** In place of the client's own. */
  retries?: number | undefined;
}

/** As often as this the answer with a secret may get lost. */
const SECRET_TRIES = 3;

export class WeirClient {
  readonly #transport: Transport;
  readonly #retries: number;
  readonly #onRetry: WeirClientOptions['onRetry'];
  readonly #queueOptions: QueueOptions;
  #queue: EventQueue | undefined;
  #isClosed = false;

  /**
   * Throws a TypeError when `baseUrl` is no address, or holds a password, or there is neither an `apiKey` nor a `serviceToken`, and a RangeError when a time or
   * another number is out of range. Opens no connection, unless there is an outbox, of which what is left is sent.
   */
  constructor(options: WeirClientOptions) {
    this.#transport = new Transport({
      baseUrl: options.baseUrl,
      apiKey: options.apiKey,
      serviceToken: options.serviceToken,
      timeoutMs: options.timeoutMs ?? 5000,
      fetch: options.fetch ?? fetch,
    });
    this.#retries = readRetries(options.retries ?? 4);
    this.#onRetry = options.onRetry;
    this.#queueOptions = options.queue ?? {};
    readLimits(this.#queueOptions);
    if (this.#queueOptions.outbox !== undefined) this.#openQueue();
  }

  /**
   * Resolves once the service has the event on disk. Rejects with a WeirError when the service refuses the event, or stays
   * out of reach through all retries. Rejects with a RangeError when the quantity is no number.
   */
  async track(event: UsageEvent, options: CallOptions = {}): Promise<Tracked> {
    const { key, json } = keyAndEncode(event);
    const message: Message = { method: 'POST', path: '/sdk/track', byKey: true, body: json, idempotencyKeys: [key] };
    return await this.#call(message, options, (answer) => settle(answer, key));
  }

  /**
   * Sends 1 to {@link BATCH_EVENTS_MAX} events in one request, and resolves to their outcomes in the same order. Events that the
   * service cannot take now are sent again without those that are settled, and in smaller requests where that is what it takes. Rejects like `track`, but only while no event has an answer of
   * its own. Where a proxy refuses some of them, others may not have been tried: their errors are `transient`.
   */
  async trackBatch(events: readonly UsageEvent[], options: CallOptions = {}): Promise<BatchOutcome[]> {
    const { signal, retries = this.#retries } = options;
    const encoded = events.map(keyAndEncode);
    const keys = encoded.map(({ key }) => key);
    const {
      outcomes,
      doubtful,
      failure: ofRequest,
    } = await deliver(encoded, (body, idempotencyKeys) => this.#sendBatch(body, idempotencyKeys, options), {
      retries: readRetries(retries),
      onRetry: this.#onRetry,
      signal,
    });
    const failure = ofRequest ?? [...doubtful.values()][0];
    if (failure === undefined) return outcomes as BatchOutcome[];
    if (!(failure instanceof WeirError)) throw failure;
    if (outcomes.every((outcome) => outcome === undefined)) throw withKeys(failure, keys);
    // What was said of others says nothing of an event that was not tried.
    const transient = ofRequest === undefined || failure.transient;
    return outcomes.map(
      (outcome, index) => outcome ?? { error: doubtful.get(index) ?? withKeys(failure, [keys[index]!], transient) },
    );
  }

  /**
   * Hands an event to the background, which sends it in a batch, again and again until Weir has it. Resolves to its idempotency key
   * as soon as it is held: in memory, or with an outbox on disk. Rejects with a WeirError: `queue_full` if so set, `queue_closed`,
   * or `outbox_failed`. Rejects with a RangeError when the quantity is no number.
   *
   * An event without a timestamp gets the present one, since it may be sent much later. So give a key of your own together with a
   * time of your own: the same key with another time is refused.
   */
  async queue(event: UsageEvent, options: QueueCallOptions = {}): Promise<string> {
    return await this.queueAsItIs({ ...event, timestamp: event.timestamp ?? new Date() }, options);
  }

  /**
   * As `queue`, but an event without a timestamp gets the time when Weir receives it. Queued again with the same key, it is the same event.
   * One that is refused in a way that may be a proxy's is not kept where `onDoubtful` is told of it.
   * @internal Of Weir's own import: later versions need not have it.
   */
  async queueAsItIs(
    event: UsageEvent,
    { signal, onSettled, onDoubtful }: QueueCallOptions & Pick<HeldEvent, 'onDoubtful'> = {},
  ): Promise<string> {
    const encoded = keyAndEncode(event);
    const held = { ...encoded, bytes: Buffer.byteLength(encoded.json), onSettled, onDoubtful };
    await (this.#queue ?? this.#openQueue()).add(held, signal);
    return encoded.key;
  }

  /** Bytes of JSON that were queued and are not settled, in memory or in the outbox: what to put on a chart and an alert. */
  get queuedBytes(): number {
    return this.#queue?.bytes ?? 0;
  }

  /**
   * Sends what is queued now. Resolves when all of it is settled, whatever is queued meanwhile, or rejects with the signal's reason, and with
   * `queue_closed` where `close` ends before that. What a proxy refuses is not settled: give a signal. A flush that nobody awaits ends no
   * process by being rejected: what `close` gives back can still be saved.
   */
  flush({ signal }: Pick<CallOptions, 'signal'> = {}): Promise<void> {
    const flushed = this.#queue?.flush(signal) ?? Promise.resolve();
    // It is no unhandled rejection then; who awaits it gets it all the same.
    flushed.catch(() => undefined);
    return flushed;
  }

  /**
   * Sends what is queued, for at most so many milliseconds (default 10,000), and takes no more. Never rejects because of the
   * service: the result says what is left. With an outbox that stays on disk. Rejects with a RangeError when `timeout` is no number; Infinity
   * waits until all is settled.
   */
  async close({ timeout = 10_000 }: { timeout?: number } = {}): Promise<CloseResult> {
    const timeoutMs = readMs('timeout', Math.max(0, timeout));
    this.#isClosed = true;
    return (await this.#queue?.close(timeoutMs)) ?? { isDone: true, unsent: [] };
  }

  /** The usage of a meter over a window, in all and by calendar period; of all customers or of one. */
  async usage(query: UsageQuery, options: CallOptions = {}): Promise<MeterUsage> {
    if ('meter_token' in query) return await this.#get('/usage', { ...query }, options);
    const { meter_id: meterId, ...rest } = query;
    return await this.#get(`/meters/${encodeURIComponent(meterId)}/usage`, rest, options);
  }

  /** The usage of one customer over a window, on every meter. `id` is that of its record. */
  async customerUsage(id: string, window: WindowQuery = {}, options: CallOptions = {}): Promise<CustomerUsage> {
    return await this.#get(`/customers/${encodeURIComponent(id)}/usage`, { ...window }, options);
  }

  /**
   * The customers of a meter by their usage over a window, largest first, or as `sort` says: by `customer_external_id` each is met once, also
   * while usage changes. `meta.next_cursor` leads to those that follow.
   */
  meterCustomers(
    meterId: string,
    query?: MeterCustomersQuery & ByNumber,
    options?: CallOptions,
  ): Promise<MeterCustomersPage & Page<MeterCustomer>>;
  meterCustomers(meterId: string, query: MeterCustomersQuery, options?: CallOptions): Promise<MeterCustomersPage>;
  async meterCustomers(
    meterId: string,
    query: MeterCustomersQuery = {},
    options: CallOptions = {},
  ): Promise<MeterCustomersPage> {
    return await this.#get(`/meters/${encodeURIComponent(meterId)}/customers`, { ...query }, options);
  }

  /** The receipt of an event: what became of it. */
  async event(id: string, options: CallOptions = {}): Promise<EventReceipt> {
    return await this.#get(`/events/${encodeURIComponent(id)}`, {}, options);
  }

  /** A page of events, newest first. One that still waits in Weir's queue is not listed yet. */
  async events(query: EventsQuery = {}, options: CallOptions = {}): Promise<EventsPage> {
    return await this.#get('/events', { ...query }, options);
  }

  /** Whether a customer may use a feature, and how much of it is left. */
  async entitlement(query: EntitlementQuery, options: CallOptions = {}): Promise<Entitlement> {
    return await this.#get('/entitlements', { ...query }, options);
  }

  /** Everything that the subscriptions of a customer give it. */
  async entitlements(customerExternalId: string, options: CallOptions = {}): Promise<Entitlement[]> {
    const query = { customer_external_id: customerExternalId };
    return (await this.#get<{ data: Entitlement[] }>('/entitlements', query, options)).data;
  }

  async customer(id: string, options: CallOptions = {}): Promise<Customer> {
    return await this.#get(`/customers/${encodeURIComponent(id)}`, {}, options);
  }

  /** A page of customers, newest first. `meta.next_cursor` is the cursor of the next one; null: this was the last. */
  customers(query?: CustomersQuery & ByNumber, options?: CallOptions): Promise<Page<Customer>>;
  customers(query: CustomersQuery, options?: CallOptions): Promise<CustomersPage>;
  async customers(query: CustomersQuery = {}, options: CallOptions = {}): Promise<CustomersPage> {
    return await this.#get('/customers', { ...query }, options);
  }

  /**
   * Makes a token that shows one customer its own usage, subscriptions, prices, invoices and credits, for `/embed#token=` or for reads
   * of your own. It ends after an hour. Where the answer to an attempt got lost, it makes another one.
   */
  async widgetToken(customerExternalId: string, options: CallOptions = {}): Promise<WidgetToken> {
    const body = JSON.stringify({ customer_external_id: customerExternalId });
    // One key for all attempts of one making.
    const make = async (): Promise<Partial<WidgetToken>> => {
      const message: Message = {
        method: 'POST',
        path: '/widget/token',
        byKey: true,
        body,
        requestKey: crypto.randomUUID(),
      };
      return await this.#call(message, options, readOrThrow);
    };
    // The answer to an attempt got lost, and a secret is shown once: nobody has that token, so another one is made.
    for (let tries = 0; tries < SECRET_TRIES; tries += 1) {
      const { token, expires_at } = await make();
      if (typeof token === 'string' && typeof expires_at === 'string') return { token, expires_at };
    }
    const detail = 'The service has made tokens whose answers got lost, and shows none twice: ask again.';
    throw new WeirError({ status: 0, code: 'secret_lost', detail });
  }

  /**
   * Any request of the API: `path` is what comes after `/api/v1`, such as `/customers`. Resolves to what is answered, in the API's own
   * words, an empty object where that is nothing. Is retried as all calls are; a write carries one Idempotency-Key in all attempts. Rejects
   * with a WeirError when the service refuses it, also with `answer_withheld` where a repeat lacks a part of the first answer, such as a
   * secret; and with a TypeError for a header that is the client's own, or a key that no header carries.
   */
  async request<T = Record<string, unknown>>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    options: RequestOptions = {},
  ): Promise<T> {
    const { body, withheld } = await this.exchange<T>(method, path, options);
    if (withheld.length > 0) throw answerWithheld(withheld);
    return body;
  }

  /**
   * What is read is a file, such as `/invoices/{id}/pdf`: resolves to its bytes. A CSV of several pages is read page by page, and resolves to
   * all of it. Each page is retried as all calls are.
   */
  async file(
    path: string,
    { query = {}, ...options }: CallOptions & Pick<RequestOptions, 'query'> = {},
  ): Promise<Uint8Array<ArrayBuffer>> {
    const [address = ''] = path.split('?', 1);
    const pages: Uint8Array<ArrayBuffer>[] = [];
    for (let at: string | undefined = path + queryString(query); at !== undefined;) {
      const { bytes, next }: FilePage = await this.#call({ method: 'GET', path: at }, options, readFileOrThrow);
      pages.push(bytes);
      at = next === undefined ? undefined : address + next;
    }
    return pages.length === 1 ? pages[0]! : new Uint8Array(await new Blob(pages).arrayBuffer());
  }

  /**
   * The same as `request`, of which all is answered: also the `etag` of what was read, for the `ifMatch` of its change. What a repeat lacks
   * is named in `withheld`.
   */
  async exchange<T = Record<string, unknown>>(
    method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
    path: string,
    options: RequestOptions = {},
  ): Promise<Reply<T>> {
    const { body, query = {}, idempotencyKey, ifNoneMatch } = options;
    const message: Message = {
      method,
      path: path + queryString(query),
      headers: readHeaders(options),
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(method !== 'GET' && { requestKey: readRequestKey(idempotencyKey ?? crypto.randomUUID()) }),
    };
    return await this.#call(message, options, (answer) => {
      const { status, headers } = answer;
      const read = status === 304 && ifNoneMatch !== undefined ? {} : readOrThrow(answer);
      return { status, body: read as T, withheld: withheldIn(headers), etag: etagIn(headers), headers };
    });
  }

  async #get<T>(path: string, query: Parameters<typeof queryString>[0], options: CallOptions): Promise<T> {
    return await this.#call(
      { method: 'GET', path: path + queryString(query) },
      options,
      (answer) => readOrThrow(answer) as T,
    );
  }

  async #call<T>(
    message: Message,
    { signal, timeoutMs, retries = this.#retries }: CallOptions,
    read: (answer: Answer) => T,
  ): Promise<T> {
    const attempt = async () => read(await this.#transport.send({ ...message, signal, timeoutMs }));
    try {
      return await withRetries(attempt, { retries: readRetries(retries), onRetry: this.#onRetry, signal });
    } catch (error) {
      const { requestKey } = message;
      throw requestKey !== undefined && error instanceof WeirError ? withKeys(error, [requestKey]) : error;
    }
  }

  #sendBatch(body: string, idempotencyKeys: readonly string[], { signal, timeoutMs }: CallOptions) {
    const message: Message = { method: 'POST', path: '/sdk/track/batch', byKey: true, body, idempotencyKeys };
    return this.#transport.send({ ...message, signal, timeoutMs });
  }

  #openQueue(): EventQueue {
    // At once, and not again and again in the background.
    this.#transport.requireApiKey();
    const send = (body: string, keys: readonly string[], signal: AbortSignal) =>
      this.#sendBatch(body, keys, { signal });
    this.#queue = new EventQueue(send, this.#onRetry, this.#queueOptions);
    if (this.#isClosed) void this.#queue.close(0);
    return this.#queue;
  }
}
