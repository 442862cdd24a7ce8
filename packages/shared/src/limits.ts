// The limits of the interface: what a request may hold, how much an answer gives at once, how long things are kept. Each has its
// number here and nowhere else: schemas, messages, the clients, the console and docs/limits.md are made of them. What an operator
// sets is in docs/configuration.md.

interface Limit {
  max: number;
  min?: number;
  /** Where a request does not say it. */
  byDefault?: number;
  /** Names what is counted. */
  of: string;
  /** Why not more. */
  why: string;
  under: 'Events' | 'Texts' | 'Things' | 'Pages' | 'Reading usage' | 'Billing' | 'Webhooks' | 'Access';
}

export const LIMIT_TABLE = {
  batchEvents: {
    under: 'Events',
    max: 1_000,
    of: 'events in one `POST /sdk/track/batch`',
    why: 'each has an outcome of its own, in one answer; it is what leaves for Redis in one step',
  },
  corrections: {
    under: 'Events',
    max: 1_000,
    of: 'events in one `POST /corrections`, and in its preview',
    why: 'all of them are one transaction, for which others wait',
  },
  metadataKeys: { under: 'Events', max: 50, of: 'keys of `metadata` itself', why: 'what lies within counts as bytes' },
  metadataLevels: {
    under: 'Events',
    max: 5,
    of: 'levels of `metadata`, of which it is the first',
    why: 'whoever walks it needs no deep stack',
  },
  metadataBytes: {
    under: 'Events',
    max: 8 * 1024,
    of: 'bytes of UTF-8 of `metadata`, as it is sent',
    why: 'an event stays small in Redis and in Postgres',
  },
  formerKeySeconds: {
    under: 'Events',
    max: 5,
    of: 'seconds that events with a `lookup_key` still count where it led before',
    why: 'each process looks meters up so often',
  },
  quantity: {
    under: 'Events',
    max: 9_007_199_254_740_991,
    of: 'the `quantity` of an event, and a `usage_limit`',
    why: '2^53 - 1: what every JSON client can still send exactly',
  },
  quantityCharacters: {
    under: 'Events',
    max: 400,
    of: 'characters of a `quantity` as it is sent',
    why: 'as many digits as the smallest double has, 4.94e-324',
  },

  key: {
    under: 'Texts',
    max: 255,
    of: 'characters of what things are called by: external ids, tokens, idempotency keys, references, a search',
    why: 'longer than any id; it is in an index',
  },
  name: {
    under: 'Texts',
    max: 255,
    of: 'characters of a name, or of a line of an address',
    why: 'it is shown in one line',
  },
  url: { under: 'Texts', max: 2_048, of: 'characters of the URL of a webhook endpoint', why: 'more than servers take' },
  email: { under: 'Texts', max: 254, of: 'characters of an email address', why: 'no mail server takes a longer one' },
  shortText: {
    under: 'Texts',
    max: 64,
    of: 'characters of a unit, a phone number, a tax id, or a metadata key that usage is grouped by',
    why: 'it is shown beside a number',
  },
  slug: {
    under: 'Texts',
    max: 64,
    of: 'characters of a `lookup_key` of a feature, or a `lookup_id`',
    why: 'people type it',
  },
  postalCode: { under: 'Texts', max: 32, of: 'characters of a postal code', why: 'no country has a longer one' },
  note: {
    under: 'Texts',
    max: 2_000,
    of: 'characters of a note, a description or a reason',
    why: 'a page of a text; it is in every list',
  },
  lines: {
    under: 'Texts',
    max: 1_000,
    of: 'characters of the issuer of invoices, a value of a plan, or why an event was rejected',
    why: 'a letterhead',
  },
  invoicePrefix: {
    under: 'Texts',
    max: 20,
    of: 'characters of the prefix of invoice numbers',
    why: 'the number is read aloud',
  },

  features: {
    under: 'Things',
    max: 5_000,
    of: 'features of an organization',
    why: 'all are one answer, of some megabytes',
  },
  meters: {
    under: 'Things',
    max: 10_000,
    of: 'meters of an organization, with those that are archived and those of features that were deleted',
    why: 'the usage of a customer is looked for in all of them, and a meter stays: what it counted may be on an invoice',
  },
  planFeatures: {
    under: 'Things',
    max: 500,
    of: 'features of a plan',
    why: 'all are in the answer of the plan, and in what its customers may use',
  },
  planCharges: {
    under: 'Things',
    max: 100,
    of: 'charges of a plan without an end, and as many that end',
    why: 'all are in one answer, one invoice and one period',
  },
  planChargesAtOnce: {
    under: 'Things',
    max: 20,
    of: 'charges that one `PATCH /plans/{id}` adds, and as many that it renames or ends',
    why: 'each reserves its meter for every subscription of the plan, and others wait for all of them',
  },
  planTiers: { under: 'Things', max: 2_000, of: 'tiers in charges of a plan without an end', why: 'as for charges' },
  tiers: { under: 'Things', max: 100, of: 'tiers of one charge', why: 'all are on the line of an invoice' },
  meterKeys: {
    under: 'Things',
    max: 5,
    of: 'metadata keys that the usage of a meter is grouped by, and filters of a read',
    why: 'every combination of their values is kept by itself, up to the number of a day under *Reading usage*',
  },
  webhookEndpoints: {
    under: 'Things',
    max: 10,
    of: 'webhook endpoints of an organization',
    why: 'each event is sent to each of them',
  },
  alerts: {
    under: 'Things',
    max: 100,
    of: 'alerts of an organization',
    why: 'each change of usage is held against all of them',
  },
  thresholds: { under: 'Things', max: 20, of: 'thresholds of an alert', why: 'each is told once for each customer' },
  runningMoves: { under: 'Things', max: 1_000, of: 'erasures and moves that are not done', why: 'they take turns' },
  widgetMeters: { under: 'Things', max: 100, of: 'meters that a widget shows', why: 'more than anybody looks at' },
  finalizedAtOnce: { under: 'Things', max: 100, of: 'drafts that one request finalizes', why: 'as many as a page has' },
  apiKeys: {
    under: 'Things',
    max: 1_000,
    of: 'API keys of an organization',
    why: 'limits of requests are those of a key, and processes have the keys that are used in memory',
  },
  serviceAccounts: {
    under: 'Things',
    max: 100,
    of: 'service accounts of an organization',
    why: 'one for each service that calls, and few enough to know',
  },
  serviceTokens: {
    under: 'Things',
    max: 20,
    of: 'tokens of a service account',
    why: 'one for each place it runs at, and as many while they are replaced',
  },

  addedLines: { under: 'Things', max: 10_000, of: 'ADJUSTMENT lines of a draft', why: 'each read adds all of them up' },
  payments: {
    under: 'Things',
    max: 200,
    of: 'payments of an invoice, with those that were taken back',
    why: 'all are in the answer of the invoice',
  },
  liveGrants: { under: 'Things', max: 1_000, of: 'live grants of a customer by currency', why: 'a draw holds all' },

  page: { under: 'Pages', max: 1_000_000, of: 'the number of a page', why: 'what is behind it is found by a filter' },
  pageSize: { under: 'Pages', max: 100, byDefault: 20, of: 'things of one page', why: 'an answer within milliseconds' },
  cursor: {
    under: 'Pages',
    max: 4_096,
    of: 'characters of a cursor',
    why: 'twice what one with a text of 255 characters has',
  },
  longPageSize: {
    under: 'Pages',
    max: 1_000,
    byDefault: 100,
    of: 'entries of the feed of billing, and lines of all invoices, in one page',
    why: 'programs read them to their end',
  },
  invoiceLines: {
    under: 'Pages',
    max: 500,
    byDefault: 100,
    of: 'lines of one invoice in one answer',
    why: 'each may hold a hundred tiers; the others follow by a cursor',
  },
  invoiceLineTiers: { under: 'Pages', max: 4_000, of: 'tiers of those lines', why: 'some megabytes' },
  previewRows: {
    under: 'Pages',
    max: 100,
    of: 'rows of usage, and invoices, in the preview of corrections',
    why: 'the usage after them is read while others wait',
  },
  auditPageBytes: {
    under: 'Pages',
    max: 2 * 1024 * 1024,
    of: 'bytes of `changes` in one page of the audit log; an entry that has more is a page by itself',
    why: 'an entry keeps all that was sent, which may be a whole body; the others follow by the cursor',
  },
  pdfLines: {
    under: 'Pages',
    max: 2_000,
    of: 'lines of an invoice as PDF',
    why: 'some 70 pages and more; the others are one row, with what they come to',
  },
  rejections: { under: 'Pages', max: 100, of: 'reasons in `GET /events/rejections`', why: 'the most frequent ones' },
  countedRejections: { under: 'Pages', max: 100_000, of: 'rejected events that these count', why: 'the newest ones' },
  grantsBesideBalance: {
    under: 'Pages',
    max: 500,
    of: 'grants beside the balance of a customer',
    why: 'all are one answer',
  },
  endedCharges: { under: 'Pages', max: 20, of: 'ended charges in the answer of a plan', why: 'the others have a list' },
  ownSessions: {
    under: 'Pages',
    max: 100,
    byDefault: 100,
    of: 'sessions in one page of one’s own',
    why: 'the last used come first',
  },
  problems: {
    under: 'Pages',
    max: 100,
    of: 'mistakes that one refusal lists',
    why: 'a body of nothing but unknown fields must not be answered with one many times as large',
  },

  buckets: { under: 'Reading usage', max: 10_000, of: 'periods of one chart', why: 'by the hour, more than a year' },
  groups: { under: 'Reading usage', max: 100, byDefault: 20, of: 'groups of a read', why: 'the others are the rest' },
  dayCombinations: {
    under: 'Reading usage',
    max: 1_000,
    of: 'combinations of metadata values that a meter keeps by themselves on a day (UTC)',
    why: 'each has rows of its own; events of others are in the total and in the rest, under no value',
  },
  groupValue: {
    under: 'Reading usage',
    max: 100,
    of: 'characters of a value that usage is grouped by',
    why: 'of a longer one there are the first 80 and a hash',
  },
  groupBuckets: { under: 'Reading usage', max: 50_000, of: 'periods of all groups together', why: 'some 5 MB' },

  trialDays: {
    under: 'Billing',
    max: 36_500,
    of: 'days of a trial',
    why: 'a hundred years; more is a mistake, and would end after the last date that Postgres knows',
  },
  graceHours: {
    under: 'Billing',
    max: 72,
    of: 'hours that an invoice stays a draft',
    why: 'as long as late events of a period are usual',
  },
  termsDays: { under: 'Billing', max: 365, of: 'days from the issue of an invoice until it is due', why: 'a year' },
  monthsAhead: {
    under: 'Billing',
    max: 24,
    of: 'months ahead that a subscription starts or a new price is announced, and periods of a preview',
    why: 'contracts are made so long before',
  },
  periodsAgo: {
    under: 'Billing',
    max: 1_000,
    of: 'periods that a subscription may have begun before now',
    why: 'enough to bring years in, and few enough to open at once',
  },
  trialMonths: { under: 'Billing', max: 1_200, of: 'months of the trial of a subscription', why: 'a hundred years' },
  daysOfPeriod: { under: 'Billing', max: 366, of: 'days of a period that a charge is tried with', why: 'a leap year' },
  priceDigits: {
    under: 'Billing',
    max: 15,
    of: 'digits before the point of a price or an amount',
    why: 'more than is paid',
  },
  unitDigits: {
    under: 'Billing',
    max: 32,
    of: 'digits before the point of a number of units: a tier, a package, what is about to be used',
    why: 'more than is counted',
  },
  fraction: {
    under: 'Billing',
    max: 18,
    of: 'digits after the point of a price or a number of units',
    why: 'the smallest unit of a token is 18 digits below one',
  },
  triedDigits: {
    under: 'Billing',
    max: 64,
    of: 'digits of the quantity that a charge is tried with',
    why: 'as of a sum',
  },
  amountFraction: { under: 'Billing', max: 4, of: 'digits after the point of an amount', why: 'no currency has more' },
  priority: { under: 'Billing', max: 100, of: 'the priority of a grant', why: 'an order, no amount' },

  deliveryAttempts: {
    under: 'Webhooks',
    max: 20,
    of: 'attempts of a delivery that are kept: the last ones',
    why: 'all are in the list of deliveries',
  },
  deliveryDays: {
    under: 'Webhooks',
    max: 30,
    of: 'days that a delivery is kept when it is done with',
    why: 'the feed has its event for ever',
  },
  deliveries: {
    under: 'Webhooks',
    max: 20_000,
    of: 'deliveries of an endpoint that are kept so: the last ones, cut at least once a day',
    why: 'as above',
  },
  waitingDeliveries: {
    under: 'Webhooks',
    max: 10_000,
    of: 'deliveries to an endpoint that fails which wait for another attempt: until it does well it is sent a new event only once nothing was tried for five minutes',
    why: 'one that is gone would fill the disk; the feed has its event for ever',
  },
  waitingTests: { under: 'Webhooks', max: 10, of: 'tests of an endpoint that wait', why: 'events go out beside them' },
  failingDays: {
    under: 'Webhooks',
    max: 3,
    of: 'days that an endpoint fails before it is turned off',
    why: 'nobody waits for what comes then',
  },
  rotationHours: {
    under: 'Webhooks',
    max: 24,
    of: 'hours that the secret before signs beside a new one',
    why: 'time enough to change a receiver',
  },

  sessionDays: { under: 'Access', max: 7, of: 'days of a session', why: 'a cookie that was taken ends by itself' },
  sessionIdleHours: { under: 'Access', max: 12, of: 'hours between two requests of a session', why: 'a day of work' },
  widgetTokenMinutes: {
    under: 'Access',
    max: 60,
    of: 'minutes of a widget token',
    why: 'the app around the widget gives it a new one',
  },
  keptAnswerBytes: {
    under: 'Access',
    max: 64 * 1024,
    of: 'bytes of an answer that is kept for a repeat with its `Idempotency-Key`',
    why: 'of a longer one lists are left out, and `Idempotent-Withheld` names them',
  },
  keptAnswerDays: { under: 'Access', max: 30, of: 'days that such an answer is kept', why: 'nobody repeats it later' },
  invitationDays: { under: 'Access', max: 7, of: 'days of the link of an invitation', why: 'mail is read by then' },
  passwordResetHours: {
    under: 'Access',
    max: 24,
    of: 'hours of a link for a new password',
    why: 'it opens an account, and is used at once',
  },
  linksAnHour: {
    under: 'Access',
    max: 100,
    of: 'links of invitations and for new passwords that an organization makes in an hour',
    why: 'more than it needs, and too few to flood mailboxes with',
  },
  resetsAnHour: {
    under: 'Access',
    max: 5,
    of: 'links for a new password that an account is mailed in an hour',
    why: 'nobody floods its mailbox by asking for them; the answer is the same',
  },
  password: { under: 'Access', max: 256, min: 12, of: 'characters of a password', why: 'hashing takes a bounded time' },
} as const satisfies Record<string, Limit>;

/** The number of each limit, by its name. */
export const LIMITS = Object.fromEntries(Object.entries(LIMIT_TABLE).map(([name, { max }]) => [name, max])) as Readonly<
  Record<keyof typeof LIMIT_TABLE, number>
>;

/** The years of dates and times in requests: where instants are still safe integers, and all calendars agree on what a year is. */
export const YEARS = { min: 1970, max: 2199 } as const;

/** Nothing that is counted or billed is older than the service could be; Postgres and JavaScript read these years alike. */
export const FIRST_YEAR = 2000;

/** The most that `TIMESTAMP_AHEAD_SECONDS` may be. */
export const TIMESTAMP_AHEAD_SECONDS_MAX = 365 * 86_400;

/** No event is further ahead, also by a clock that is some hours behind that of the API that took it. */
export const AHEAD_DAYS_MAX = TIMESTAMP_AHEAD_SECONDS_MAX / 86_400 + 1;

/** What holds where a request does not say how much it wants. */
export const DEFAULTS = {
  pageSize: LIMIT_TABLE.pageSize.byDefault,
  longPageSize: LIMIT_TABLE.longPageSize.byDefault,
  invoiceLines: LIMIT_TABLE.invoiceLines.byDefault,
  groups: LIMIT_TABLE.groups.byDefault,
  ownSessions: LIMIT_TABLE.ownSessions.byDefault,
} as const;
