-- Usage of priced meters that no charge bills, by UTC days that are over (src/billing/unbilled-usage.ts).

-- When a day was looked at last, as the UTC date of the look.
CREATE TABLE unbilled_usage_looks (
  day date NOT NULL,
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  looked_on date NOT NULL,
  CONSTRAINT unbilled_usage_looks_pkey PRIMARY KEY (day, organization_id, meter_id)
);

-- What such a look found.
CREATE TABLE unbilled_usage_days (
  organization_id uuid NOT NULL,
  day date NOT NULL,
  meter_id uuid NOT NULL,
  reason text NOT NULL,
  events bigint NOT NULL,
  customers bigint NOT NULL,
  CONSTRAINT unbilled_usage_days_pkey PRIMARY KEY (organization_id, day, meter_id, reason),
  CONSTRAINT unbilled_usage_days_reason_check CHECK (reason IN ('price_ended', 'not_in_plan', 'after_end', 'no_subscription'))
);

-- What the feed has told. A month is its first day.
CREATE TABLE unbilled_usage_told (
  organization_id uuid NOT NULL,
  meter_id uuid NOT NULL,
  month date NOT NULL,
  reason text NOT NULL,
  CONSTRAINT unbilled_usage_told_pkey PRIMARY KEY (organization_id, meter_id, month, reason)
);
