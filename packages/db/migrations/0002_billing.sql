-- Billing: what plans cost, who subscribes to them, what that comes to in each period, and the invoices for it. Amounts are
-- in units of the currency with exactly its minor digits; they are made by packages/rating and nowhere else.

-- The time that billing goes by: of the transaction, and of the moment. Functions, so that a test can let a month pass.
CREATE FUNCTION billing_now() RETURNS timestamptz LANGUAGE sql STABLE RETURN now();
CREATE FUNCTION billing_clock() RETURNS timestamptz LANGUAGE sql VOLATILE RETURN clock_timestamp();

ALTER TABLE organizations
  ADD COLUMN time_zone text NOT NULL DEFAULT 'UTC',
  ADD COLUMN invoice_grace_hours integer NOT NULL DEFAULT 1,
  ADD COLUMN payment_terms_days integer NOT NULL DEFAULT 30,
  ADD COLUMN invoice_prefix text NOT NULL DEFAULT 'INV',
  ADD CONSTRAINT organizations_invoice_grace_hours_check CHECK (invoice_grace_hours BETWEEN 0 AND 72),
  ADD CONSTRAINT organizations_payment_terms_days_check CHECK (payment_terms_days BETWEEN 0 AND 365);

-- Null: that of the organization.
ALTER TABLE customers ADD COLUMN time_zone text;

-- What a plan costs. Nothing of a charge changes but its name, and that it ends.
CREATE TABLE charges (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  plan_id uuid NOT NULL,
  display_name text NOT NULL,
  type text NOT NULL,
  -- Of USAGE: the meter that is priced.
  meter_id uuid,
  -- The price, in the form of packages/rating/src/charge-terms.ts.
  terms jsonb NOT NULL,
  created_at timestamptz NOT NULL DEFAULT billing_now(),
  -- Since when it is INACTIVE, for good.
  ended_at timestamptz,
  CONSTRAINT charges_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT charges_type_check CHECK (type IN ('FIXED', 'USAGE')),
  CONSTRAINT charges_meter_id_check CHECK ((type = 'USAGE') = (meter_id IS NOT NULL)),
  CONSTRAINT charges_organization_id_plan_id_fkey FOREIGN KEY (organization_id, plan_id)
    REFERENCES plans (organization_id, id) ON DELETE CASCADE,
  CONSTRAINT charges_organization_id_meter_id_fkey FOREIGN KEY (organization_id, meter_id)
    REFERENCES meters (organization_id, id)
);
CREATE INDEX charges_organization_id_plan_id_idx ON charges (organization_id, plan_id);
-- One price for a meter at a time.
CREATE UNIQUE INDEX charges_organization_id_plan_id_meter_id_key ON charges (organization_id, plan_id, meter_id)
  WHERE ended_at IS NULL AND meter_id IS NOT NULL;

-- A customer on a plan.
CREATE TABLE subscriptions (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  external_id text,
  customer_id uuid NOT NULL,
  -- What the customer's events name, as it was when the subscription was made; it cannot change before the end.
  customer_external_id text NOT NULL,
  plan_id uuid NOT NULL,
  -- What is billed from the next period on, where that is another plan.
  pending_plan_id uuid,
  status text NOT NULL,
  -- Copied when it is made: what changes later is for later subscriptions.
  time_zone text NOT NULL,
  currency text NOT NULL,
  billing_interval text NOT NULL,
  billing_alignment text NOT NULL,
  start_at timestamptz NOT NULL,
  -- Null: no trial.
  trial_end_at timestamptz,
  -- Boundary n is the first instant of the date anchor + (n - anchor_cycle) intervals, but for n = anchor_cycle, which is
  -- anchor_at itself. Another interval, from a change of plan, begins with another anchor.
  anchor date NOT NULL,
  anchor_at timestamptz NOT NULL,
  anchor_cycle integer NOT NULL DEFAULT 0,
  -- The open period, or the trial, then without a cycle. After the end: the last one.
  cycle integer,
  current_period_start timestamptz NOT NULL,
  current_period_end timestamptz NOT NULL,
  cancel_at_period_end boolean NOT NULL DEFAULT false,
  cancel_reason text,
  -- When it was asked for, and when it takes place or took place.
  canceled_at timestamptz,
  ended_at timestamptz,
  -- When the run has to look at it: at the end of the period, later where it failed; null: never again.
  run_at timestamptz,
  -- Why it could not be billed when it was tried last; null: it was billed.
  run_error text,
  -- The last closing at which something of it was settled: late changes with this number or a higher one wait.
  closing bigint NOT NULL DEFAULT 0,
  created_at timestamptz NOT NULL DEFAULT billing_now(),
  CONSTRAINT subscriptions_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT subscriptions_organization_id_external_id_key UNIQUE (organization_id, external_id),
  CONSTRAINT subscriptions_status_check CHECK (status IN ('TRIAL', 'ACTIVE', 'PAST_DUE', 'CANCELED')),
  CONSTRAINT subscriptions_billing_interval_check CHECK (billing_interval IN ('day', 'week', 'month', 'year')),
  CONSTRAINT subscriptions_billing_alignment_check CHECK (billing_alignment IN ('anniversary', 'calendar')),
  CONSTRAINT subscriptions_current_period_check CHECK (current_period_start <= current_period_end),
  CONSTRAINT subscriptions_organization_id_customer_id_fkey FOREIGN KEY (organization_id, customer_id)
    REFERENCES customers (organization_id, id),
  CONSTRAINT subscriptions_organization_id_plan_id_fkey FOREIGN KEY (organization_id, plan_id)
    REFERENCES plans (organization_id, id),
  CONSTRAINT subscriptions_organization_id_pending_plan_id_fkey FOREIGN KEY (organization_id, pending_plan_id)
    REFERENCES plans (organization_id, id)
);
CREATE INDEX subscriptions_run_at_idx ON subscriptions (run_at) WHERE run_at IS NOT NULL;
CREATE INDEX subscriptions_organization_id_customer_id_idx ON subscriptions (organization_id, customer_id);
CREATE INDEX subscriptions_organization_id_plan_id_idx ON subscriptions (organization_id, plan_id);
CREATE INDEX subscriptions_organization_id_pending_plan_id_idx ON subscriptions (organization_id, pending_plan_id)
  WHERE pending_plan_id IS NOT NULL;

-- A meter of a customer is billed by one subscription at a time, since an event names no subscription.
CREATE TABLE billed_meters (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  subscription_id uuid NOT NULL,
  -- From when on another subscription may bill it. Null: this one goes on.
  ended_at timestamptz,
  CONSTRAINT billed_meters_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id),
  CONSTRAINT billed_meters_organization_id_subscription_id_fkey FOREIGN KEY (organization_id, subscription_id)
    REFERENCES subscriptions (organization_id, id)
);
CREATE INDEX billed_meters_organization_id_subscription_id_idx ON billed_meters (organization_id, subscription_id);

-- The periods that were opened, with their boundaries: these are not computed again.
CREATE TABLE subscription_periods (
  organization_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  cycle integer NOT NULL,
  plan_id uuid NOT NULL,
  period_start timestamptz NOT NULL,
  period_end timestamptz NOT NULL,
  -- Local dates in force, of those of the whole period. Null: it is whole.
  days_in_force integer,
  days_in_period integer,
  opened_at timestamptz NOT NULL DEFAULT billing_now(),
  CONSTRAINT subscription_periods_pkey PRIMARY KEY (organization_id, subscription_id, cycle),
  CONSTRAINT subscription_periods_period_check CHECK (period_start <= period_end),
  CONSTRAINT subscription_periods_organization_id_subscription_id_fkey FOREIGN KEY (organization_id, subscription_id)
    REFERENCES subscriptions (organization_id, id)
);

-- What one charge comes to for one period of one subscription. Lines of invoices settle it.
CREATE TABLE dues (
  organization_id uuid NOT NULL,
  subscription_id uuid NOT NULL,
  cycle integer NOT NULL,
  charge_id uuid NOT NULL,
  -- The charge as it was when the period was opened.
  display_name text NOT NULL,
  terms jsonb NOT NULL,
  meter_id uuid,
  customer_external_id text NOT NULL,
  -- The stretch in which it is in force, which a cancellation cuts.
  period_start timestamptz NOT NULL,
  period_end timestamptz NOT NULL,
  days_in_force integer,
  days_in_period integer,
  -- The closing of its last line. Null: it takes events.
  closing bigint,
  -- What its lines on finalized invoices add up to.
  billed numeric NOT NULL DEFAULT 0,
  CONSTRAINT dues_pkey PRIMARY KEY (organization_id, subscription_id, cycle, charge_id),
  CONSTRAINT dues_period_check CHECK (period_start <= period_end),
  CONSTRAINT dues_organization_id_subscription_id_cycle_fkey FOREIGN KEY (organization_id, subscription_id, cycle)
    REFERENCES subscription_periods (organization_id, subscription_id, cycle),
  CONSTRAINT dues_organization_id_charge_id_fkey FOREIGN KEY (organization_id, charge_id)
    REFERENCES charges (organization_id, id)
);
-- Whose due a late event is of.
CREATE INDEX dues_organization_id_meter_id_customer_external_id_idx
  ON dues (organization_id, meter_id, customer_external_id, period_start) WHERE meter_id IS NOT NULL;
CREATE INDEX dues_organization_id_charge_id_idx ON dues (organization_id, charge_id);

CREATE TABLE invoices (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  status text NOT NULL,
  subscription_id uuid NOT NULL,
  customer_id uuid NOT NULL,
  -- The boundary that it is of, counted; null: an ADJUSTMENT after the end.
  cycle integer,
  currency text NOT NULL,
  period_start timestamptz NOT NULL,
  period_end timestamptz NOT NULL,
  created_at timestamptz NOT NULL DEFAULT billing_now(),
  -- When its grace is over.
  finalizes_at timestamptz NOT NULL,
  -- When the run has to look at it: then, later where it failed; null: it is finalized.
  run_at timestamptz,
  run_error text,
  -- From here on null in a draft: it is computed whenever it is read.
  finalized_at timestamptz,
  invoice_number text,
  issue_date date,
  due_date date,
  -- When it is past due, unless it is paid before.
  past_due_at timestamptz,
  subtotal numeric,
  total numeric,
  credits_applied numeric,
  amount_paid numeric,
  -- The customer's name and address as they were when it was finalized.
  customer jsonb,
  is_past_due boolean NOT NULL DEFAULT false,
  paid_at timestamptz,
  reference text,
  note text,
  CONSTRAINT invoices_pkey PRIMARY KEY (organization_id, id),
  -- One for each subscription and boundary. A count and no time: a time zone moves times.
  CONSTRAINT invoices_organization_id_subscription_id_cycle_key UNIQUE (organization_id, subscription_id, cycle),
  CONSTRAINT invoices_organization_id_invoice_number_key UNIQUE (organization_id, invoice_number),
  CONSTRAINT invoices_kind_check CHECK (kind IN ('SUBSCRIPTION', 'ADJUSTMENT')),
  CONSTRAINT invoices_cycle_check CHECK ((kind = 'SUBSCRIPTION') = (cycle IS NOT NULL)),
  CONSTRAINT invoices_status_check CHECK (status IN ('DRAFT', 'OPEN', 'PAID', 'VOID', 'UNCOLLECTIBLE')),
  CONSTRAINT invoices_invoice_number_check CHECK ((status = 'DRAFT') = (invoice_number IS NULL)),
  CONSTRAINT invoices_organization_id_subscription_id_fkey FOREIGN KEY (organization_id, subscription_id)
    REFERENCES subscriptions (organization_id, id),
  CONSTRAINT invoices_organization_id_customer_id_fkey FOREIGN KEY (organization_id, customer_id)
    REFERENCES customers (organization_id, id)
);
CREATE INDEX invoices_run_at_idx ON invoices (run_at) WHERE run_at IS NOT NULL;
CREATE INDEX invoices_past_due_at_idx ON invoices (past_due_at) WHERE status = 'OPEN' AND NOT is_past_due;
CREATE INDEX invoices_organization_id_customer_id_idx ON invoices (organization_id, customer_id);

-- Of a draft only what an admin added to it; the others are written when it is finalized, and never changed.
CREATE TABLE invoice_lines (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  invoice_id uuid NOT NULL,
  position integer NOT NULL,
  kind text NOT NULL,
  description text NOT NULL,
  -- The due that it settles; null for what an admin added.
  subscription_id uuid,
  cycle integer,
  charge_id uuid,
  -- The due as it was then.
  period_start timestamptz,
  period_end timestamptz,
  days_in_force integer,
  days_in_period integer,
  -- Null for what has no meter.
  quantity numeric,
  event_count bigint,
  detail jsonb,
  -- What the due comes to, before the rounding: a decimal, or n/d where it has no end.
  exact_amount text NOT NULL,
  billed_before numeric NOT NULL,
  amount numeric NOT NULL,
  -- The usage is that of before this closing.
  closing bigint,
  rating_version integer NOT NULL,
  created_at timestamptz NOT NULL DEFAULT billing_now(),
  CONSTRAINT invoice_lines_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT invoice_lines_kind_check CHECK (kind IN ('FIXED', 'USAGE', 'LATE_USAGE', 'ADJUSTMENT')),
  CONSTRAINT invoice_lines_due_check CHECK ((kind = 'ADJUSTMENT') = (charge_id IS NULL)),
  CONSTRAINT invoice_lines_organization_id_invoice_id_fkey FOREIGN KEY (organization_id, invoice_id)
    REFERENCES invoices (organization_id, id),
  CONSTRAINT invoice_lines_due_fkey FOREIGN KEY (organization_id, subscription_id, cycle, charge_id)
    REFERENCES dues (organization_id, subscription_id, cycle, charge_id)
);
CREATE INDEX invoice_lines_organization_id_invoice_id_idx ON invoice_lines (organization_id, invoice_id);
CREATE INDEX invoice_lines_due_idx ON invoice_lines (organization_id, subscription_id, cycle, charge_id);

-- The last number of the invoices of a year (of issue, in the organization's zone). A row is the last lock of whoever
-- finalizes, but for billing_feeds.
CREATE TABLE invoice_numbers (
  organization_id uuid NOT NULL,
  year integer NOT NULL,
  last_number bigint NOT NULL,
  CONSTRAINT invoice_numbers_pkey PRIMARY KEY (organization_id, year)
);

-- Closings. A closing takes a row's number up by one and its end forward; an event that is recorded after that, and whose
-- time is before the end, is late: the record statement writes it down with the number that it read.
CREATE TABLE closings (
  organization_id uuid NOT NULL,
  number bigint NOT NULL,
  -- The latest end of a period that is closed.
  until timestamptz NOT NULL,
  closed_at timestamptz NOT NULL,
  CONSTRAINT closings_pkey PRIMARY KEY (organization_id)
);

CREATE TABLE late_events (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  customer_external_id text NOT NULL,
  "timestamp" timestamptz NOT NULL,
  event_id uuid NOT NULL,
  -- The closing after which it was recorded: usage at this one and at those before it is without the event.
  closing bigint NOT NULL,
  quantity numeric NOT NULL,
  CONSTRAINT late_events_pkey PRIMARY KEY (organization_id, meter_id, customer_external_id, "timestamp", event_id)
);
-- What a subscription has not settled yet. All closings are above 0; only a query that says so is led here. Those of a time
-- would often be, while the table has no statistics, and read everything of the customer each time.
CREATE INDEX late_events_closing_idx ON late_events (organization_id, meter_id, customer_external_id, closing)
  WHERE closing > 0;

-- Which of so many locks keeps the closings of an organization apart from what is recorded of it.
CREATE FUNCTION closing_slot(organization_id uuid) RETURNS integer LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN uuid_hash(organization_id) & 63;

-- The closings of organizations, none of which closes before the end of the transaction. Each query of a VOLATILE function
-- sees what is committed when it begins: here, after the locks. The locks are taken in the order of their slots.
CREATE FUNCTION closings_of(organization_ids uuid[]) RETURNS SETOF closings LANGUAGE plpgsql VOLATILE ROWS 10 AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(20002, slot)
  FROM (SELECT DISTINCT closing_slot(id) AS slot FROM unnest(organization_ids) AS id ORDER BY slot) AS slots;
  RETURN QUERY SELECT * FROM closings WHERE organization_id = ANY (organization_ids);
END $$;

-- Money that a customer has in advance.
CREATE TABLE credit_grants (
  organization_id uuid NOT NULL,
  id uuid NOT NULL,
  external_id text,
  customer_id uuid NOT NULL,
  currency text NOT NULL,
  amount numeric NOT NULL,
  -- The amount without what credit_entries say.
  remaining numeric NOT NULL,
  priority integer NOT NULL DEFAULT 0,
  -- It counts until then, exclusive. Null: it does not expire.
  expires_at timestamptz,
  note text,
  -- The invoice with a total below zero that it is the other side of.
  invoice_id uuid,
  voided_at timestamptz,
  created_at timestamptz NOT NULL DEFAULT billing_now(),
  CONSTRAINT credit_grants_pkey PRIMARY KEY (organization_id, id),
  CONSTRAINT credit_grants_organization_id_external_id_key UNIQUE (organization_id, external_id),
  CONSTRAINT credit_grants_amount_check CHECK (amount > 0),
  CONSTRAINT credit_grants_remaining_check CHECK (remaining BETWEEN 0 AND amount),
  CONSTRAINT credit_grants_priority_check CHECK (priority BETWEEN 0 AND 100),
  CONSTRAINT credit_grants_organization_id_customer_id_fkey FOREIGN KEY (organization_id, customer_id)
    REFERENCES customers (organization_id, id),
  CONSTRAINT credit_grants_organization_id_invoice_id_fkey FOREIGN KEY (organization_id, invoice_id)
    REFERENCES invoices (organization_id, id)
);
CREATE INDEX credit_grants_organization_id_customer_id_idx ON credit_grants (organization_id, customer_id);

-- What became of grants. Rows are added and never changed.
CREATE TABLE credit_entries (
  organization_id uuid NOT NULL,
  grant_id uuid NOT NULL,
  id uuid NOT NULL,
  kind text NOT NULL,
  amount numeric NOT NULL,
  -- Of DRAW and RETURN.
  invoice_id uuid,
  created_at timestamptz NOT NULL DEFAULT billing_now(),
  CONSTRAINT credit_entries_pkey PRIMARY KEY (organization_id, grant_id, id),
  CONSTRAINT credit_entries_kind_check CHECK (kind IN ('DRAW', 'RETURN', 'VOID')),
  CONSTRAINT credit_entries_amount_check CHECK (amount > 0),
  CONSTRAINT credit_entries_organization_id_grant_id_fkey FOREIGN KEY (organization_id, grant_id)
    REFERENCES credit_grants (organization_id, id),
  CONSTRAINT credit_entries_organization_id_invoice_id_fkey FOREIGN KEY (organization_id, invoice_id)
    REFERENCES invoices (organization_id, id)
);
CREATE INDEX credit_entries_organization_id_invoice_id_idx ON credit_entries (organization_id, invoice_id)
  WHERE invoice_id IS NOT NULL;

-- What happened, in the order of the commits and without a gap: whoever writes here holds the organization's row of
-- billing_feeds until its commit, and takes no other lock after it.
CREATE TABLE billing_feeds (
  organization_id uuid NOT NULL,
  last_sequence bigint NOT NULL,
  CONSTRAINT billing_feeds_pkey PRIMARY KEY (organization_id)
);

CREATE TABLE billing_events (
  organization_id uuid NOT NULL,
  sequence bigint NOT NULL,
  type text NOT NULL,
  created_at timestamptz NOT NULL,
  -- `user:` and an id, or `weir`.
  actor text NOT NULL,
  data jsonb NOT NULL,
  CONSTRAINT billing_events_pkey PRIMARY KEY (organization_id, sequence)
);
