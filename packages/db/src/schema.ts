import type { Interval } from '@weir/rating/periods';
import type { AggregationType, MeterStatus } from '@weir/shared/meter';
import type { ColumnType, Generated, Selectable } from 'kysely';
import type { AlertTables } from './alerts/alert-tables.ts';
import type { Party } from './billing/parties.ts';
import type { BillingTables } from './billing/tables.ts';
import type { Time, TimeOrNull } from './columns.ts';
import type { WebhookTables } from './webhooks/webhook-tables.ts';

/** What a person may do: an admin everything, a viewer read. */
export type Role = 'admin' | 'viewer';

/** What a service account may do; packages/db/src/service-accounts.ts has their order. */
export type ServiceRole = 'viewer' | 'biller' | 'admin';

/** Who made a change: a person, a service account, the holder of an API key, or whoever runs this Weir. */
export type ActorType = 'user' | 'api_key' | 'service_account' | 'operator';

export const SCOPES = ['usage.write', 'usage.read'] as const;
export type Scope = (typeof SCOPES)[number];
export type FeatureType = 'meter' | 'switch' | 'custom';
export const PLAN_TYPES = ['FIXED', 'USAGE', 'HYBRID'] as const;
export type PlanType = (typeof PLAN_TYPES)[number];
export type UsageResetPeriod = 'hour' | 'day' | 'week' | 'month' | 'year';

interface Organizations {
  id: string;
  name: string;
  created_at: Time;
  /** For customers without one of their own, and for the dates and years of invoices. */
  time_zone: Generated<string>;
  /** How long an invoice stays a draft after its boundary. */
  invoice_grace_hours: Generated<number>;
  /** From the issue of an invoice until it is due. */
  payment_terms_days: Generated<number>;
  /** What the numbers of invoices begin with. */
  invoice_prefix: Generated<string>;
  /** Lines that say who issues invoices; null: the name of the organization. */
  invoice_issuer: Generated<string | null>;
  /** The run when the grace of a draft is over, or only a person. It holds for drafts that are there as well. */
  finalize: Generated<'automatic' | 'manual'>;
  /** The issuer field by field; null: not given. */
  seller: ColumnType<Party | null, string | null | undefined, string | null>;
  widget_meter_ids: Generated<string[] | null>;
}

interface Users {
  organization_id: string;
  id: string;
  email: string;
  password_hash: string;
  created_at: Time;
  role: Generated<Role>;
  /** To the minute. */
  last_seen_at: ColumnType<string | null, never, string>;
}

interface Sessions {
  token_hash: Buffer;
  organization_id: string;
  user_id: string;
  created_at: Time;
  used_at: Time;
  id: Generated<string>;
  address: string | null;
  user_agent: string | null;
}

interface Invitations {
  organization_id: string;
  id: string;
  email: string;
  role: Role;
  token_hash: Buffer;
  created_at: Time;
  expires_at: Time;
  made_by: string | null;
}

interface PasswordResets {
  token_hash: Buffer;
  organization_id: string;
  user_id: string;
  created_at: Time;
  expires_at: Time;
  made_by: string | null;
}

interface AuditEntries {
  organization_id: string;
  id: string;
  action: string;
  resource_type: string;
  resource_id: string | null;
  actor_type: ActorType;
  actor_id: string | null;
  /** Of a person, as it was then. */
  actor_email: string | null;
  /** Of a service account, as it was then. */
  actor_name: ColumnType<string | null, string | null | undefined, never>;
  address: string | null;
  user_agent: string | null;
  /** Written as JSON text. */
  changes: ColumnType<Record<string, unknown> | null, string | null, never>;
  is_done: boolean;
}

interface RequestKeys {
  organization_id: string;
  key_hash: Buffer;
  request_hash: Buffer;
  status: number;
  answer: string | null;
  withheld: string[];
  bytes: ColumnType<number, never, never>;
  created_at: Time;
}

interface ApiKeys {
  organization_id: string;
  id: string;
  name: string;
  key_hash: Buffer;
  scopes: Scope[];
  created_at: Time;
  /** The end of the key; null for a key that was made before this was kept. */
  last4: string | null;
  /** To the minute; null for a key that was not used yet. */
  last_used_at: Time | null;
  /** Set where the key is deleted, and tokens of widgets are left of it. */
  revoked_at: TimeOrNull;
}

interface ServiceAccounts {
  organization_id: string;
  id: string;
  name: string;
  role: ServiceRole;
  created_at: Time;
}

interface ServiceAccountTokens {
  organization_id: string;
  id: string;
  service_account_id: string;
  name: string;
  token_hash: Buffer;
  last4: string;
  /** From when on it is refused; null: it holds until it is deleted. */
  expires_at: Time | null;
  /** To the minute; null for a token that was not used yet. */
  last_used_at: Time | null;
  created_at: Time;
}

interface WidgetTokens {
  token_hash: Buffer;
  organization_id: string;
  api_key_id: string;
  customer_external_id: string;
  expires_at: ColumnType<string, string, never>;
}

interface EndedWidgetTokens {
  organization_id: string;
  customer_external_id: string;
  /** Those that expire until then open nothing. */
  expires_until: ColumnType<string, string, string>;
}

interface Features {
  organization_id: string;
  id: string;
  name: string;
  lookup_key: string;
  type: FeatureType;
  created_at: Time;
}

interface Meters {
  organization_id: string;
  id: string;
  /** Null once the feature was deleted. */
  feature_id: string | null;
  name: string;
  meter_token: string;
  aggregation_type: AggregationType;
  unit: string | null;
  status: Generated<MeterStatus>;
  created_at: Time;
  /** Keys of the metadata by whose values usage can be read; `changeMetadataKeys` changes them. */
  metadata_keys: Generated<string[]>;
}

interface Plans {
  organization_id: string;
  id: string;
  name: string;
  lookup_id: string;
  type: PlanType;
  billing_interval: Interval;
  /** An ISO 4217 code. */
  currency: string;
  /** 0: no trial. */
  trial_days: Generated<number>;
  description: string | null;
  /** Whether it takes new subscriptions. */
  is_active: Generated<boolean>;
  created_at: Time;
}

interface PlanFeatures {
  organization_id: string;
  plan_id: string;
  feature_id: string;
  is_enabled: Generated<boolean>;
  /** A plain decimal; null: unlimited. */
  usage_limit: ColumnType<string | null, string | null | undefined, string | null>;
  usage_reset_period: UsageResetPeriod | null;
  is_soft_limit: Generated<boolean>;
  static_value: string | null;
  created_at: Time;
}

interface Customers {
  organization_id: string;
  id: string;
  /** The identifier in the organization's own systems; usage is recorded under it. */
  external_id: string;
  name: string | null;
  email: string | null;
  phone: string | null;
  /** As it stands on invoices as the buyer's; null: the name. */
  legal_name: string | null;
  tax_id: string | null;
  billing_address_line1: string | null;
  billing_address_line2: string | null;
  billing_address_city: string | null;
  billing_address_state: string | null;
  /** Free text. */
  billing_address_country: string | null;
  /** ISO 3166-1 alpha-2. */
  billing_country_code: string | null;
  billing_address_postal_code: string | null;
  /** Written as JSON text. */
  metadata: ColumnType<Record<string, unknown>, string | undefined, string>;
  created_at: Time;
  /** Of the IANA database, for subscriptions that are made from then on. Null: that of the organization. */
  time_zone: string | null;
  /** When it was erased: it takes no changes then. */
  erased_at: Time | null;
}

interface UsageMoves {
  organization_id: string;
  id: string;
  kind: 'ERASE' | 'MOVE';
  customer_id: string | null;
  from_external_id: string | null;
  to_external_id: string;
  copies_issued_before: string | null;
  alert_ids: string[] | null;
  events: Generated<string>;
  created_at: Time;
  moved_at: Time | null;
  finished_at: Time | null;
  stage: string | null;
  stage_after: Generated<string>;
  name_hashes: Buffer[] | null;
  grouped_meter_id: string | null;
}

interface Events {
  organization_id: string;
  id: string;
  meter_id: string;
  customer_external_id: string;
  quantity: string;
  timestamp: Time;
  idempotency_key: string | null;
  metadata: Record<string, unknown> | null;
}

interface Corrections {
  organization_id: string;
  event_id: string;
  id: string;
  reason: string;
  amended_by: string | null;
  closing: ColumnType<string, never, never>;
  actor: string;
  created_at: ColumnType<string, never, never>;
  event_meter_id: string | null;
  event_time: TimeOrNull;
}

interface DuplicateEvents {
  organization_id: string;
  id: string;
  duplicate_of: string;
  /** JSON of a StagedEvent. */
  event: string;
}

interface RejectedEvents {
  organization_id: string;
  id: string;
  meter_id: string;
  customer_external_id: string;
  reason: string;
  /** JSON of a StagedEvent. */
  event: string;
  rejected_at: Time;
}

interface Reconciliations {
  organization_id: string;
  finished_at: Time;
  is_equal: boolean;
  problems: number;
}

/** The tables that admins and receipts read through kysely. Rollups are read and written in SQL only, as `rollups.ts` has them. */
export interface Tables extends AlertTables, BillingTables, WebhookTables {
  organizations: Organizations;
  users: Users;
  sessions: Sessions;
  invitations: Invitations;
  password_resets: PasswordResets;
  audit_entries: AuditEntries;
  request_keys: RequestKeys;
  api_keys: ApiKeys;
  service_accounts: ServiceAccounts;
  service_account_tokens: ServiceAccountTokens;
  widget_tokens: WidgetTokens;
  ended_widget_tokens: EndedWidgetTokens;
  features: Features;
  meters: Meters;
  plans: Plans;
  plan_features: PlanFeatures;
  customers: Customers;
  usage_moves: UsageMoves;
  events: Events;
  corrections: Corrections;
  duplicate_events: DuplicateEvents;
  rejected_events: RejectedEvents;
  reconciliations: Reconciliations;
}

/** What is read of a row: all its columns but whose it is, and but those that are named. A new column is read, or named. */
export type Read<Table extends keyof Tables, Unread extends keyof Selectable<Tables[Table]> = never> = Omit<
  Selectable<Tables[Table]>,
  'organization_id' | Unread
>;
