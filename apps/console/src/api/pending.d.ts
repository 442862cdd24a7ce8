// What the API is about to have (its document will say so, and this file goes).

import type { components, paths } from './openapi.d.ts';

interface Json<Body> {
  content: { 'application/json': Body };
  headers: Record<string, unknown>;
}
interface Get<Body, Query = never, Path = never> {
  get: {
    parameters: { query?: Query; header?: never; path?: Path; cookie?: never };
    requestBody?: never;
    responses: { 200: Json<Body>; default: Json<unknown> };
  };
}
interface Post<Sent, Status extends number, Body> {
  post: {
    parameters: { query?: never; header?: never; path?: never; cookie?: never };
    requestBody: { content: { 'application/json': Sent } };
    responses: Record<Status, Json<Body>> & { default: Json<unknown> };
  };
}
interface Meta {
  page: number;
  page_size: number;
  total: number;
  total_pages: number;
}
interface Account {
  user: { id: string; email: string; role: 'admin' | 'viewer' };
  organization: { id: string; name: string };
}

export interface PendingPaths {
  '/api/v1/overview': Get<{
    period_start: string;
    period_end: string;
    events: { recorded: number; previous: number };
    top_meters: {
      meter_id: string;
      name: string;
      unit: string | null;
      aggregation_type: string;
      usage: string | null;
      event_count: number;
    }[];
    top_customers: {
      customer_external_id: string;
      customer_id: string | null;
      name: string | null;
      event_count: number;
    }[];
    rejected: { count: number };
    waiting: { events: number; oldest_seconds: number | null };
    invoices: {
      currency: string;
      draft_count: number;
      open_count: number;
      open_amount: string;
      past_due_count: number;
      past_due_amount: string;
      finalized_total: string;
    }[];
  }>;
  '/api/v1/events/rejections': Get<{
    data: { reason: string; meter_id: string; count: number; first_at: string; last_at: string }[];
  }>;
  '/api/v1/events': Get<
    { data: components['schemas']['EventReceipt'][]; meta: { next_cursor: string | null } },
    NonNullable<paths['/api/v1/events']['get']['parameters']['query']> & {
      start_date?: string;
      end_date?: string;
      idempotency_key?: string;
      meter_token?: string;
      reason?: string;
    }
  >;
  '/api/v1/api-keys': Get<
    { data: (components['schemas']['ApiKey'] & { last4: string; last_used_at: string | null })[]; meta: Meta },
    { page?: number; page_size?: number }
  >;
  '/api/v1/meters/{id}/usage': Get<
    components['schemas']['MeterUsage'] & {
      groups?: {
        value: string | null;
        is_rest?: boolean;
        total_usage: string | null;
        event_count: number;
        grouped_data: { period: string; period_start: string; usage: string | null; event_count: number }[];
      }[];
    },
    NonNullable<paths['/api/v1/meters/{id}/usage']['get']['parameters']['query']> & {
      group_by_metadata?: string;
      groups_limit?: number;
    },
    { id: string }
  >;
  '/api/v1/meters': Get<
    { data: (components['schemas']['Meter'] & { metadata_keys?: string[] })[]; meta: Meta },
    { page?: number; page_size?: number; search?: string; status?: 'ACTIVE' | 'ARCHIVED' }
  >;
  '/api/v1/auth/me': Get<Account>;
  '/api/v1/auth/invitation': Post<
    { token: string },
    200,
    { email: string; organization_name: string; role: 'admin' | 'viewer'; expires_at: string }
  >;
  '/api/v1/auth/invitation/accept': Post<{ token: string; password: string }, 201, Account>;
  '/api/v1/auth/password-reset': Post<{ token: string; new_password: string }, 200, Account>;
}
