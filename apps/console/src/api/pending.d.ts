// Usage by metadata, which the document does not have yet; once it has, this file goes, and client.ts takes its paths alone.

import type { components, paths } from './openapi.d.ts';

interface Json<Body> {
  content: { 'application/json': Body };
  headers: Record<string, unknown>;
}
interface Get<Body, Query = never, Path = never> {
  get: {
    parameters: { query?: Query; header?: never; path: Path; cookie?: never };
    requestBody?: never;
    responses: { 200: Json<Body>; default: Json<unknown> };
  };
}

export interface PendingPaths {
  '/api/v1/meters/{id}/usage': Get<
    components['schemas']['MeterUsage'] & {
      groups?: { value: string | null; is_rest: boolean; total_usage: string | null; event_count: number }[];
    },
    NonNullable<paths['/api/v1/meters/{id}/usage']['get']['parameters']['query']> & {
      group_by_metadata?: string;
      groups_limit?: number;
      filter?: Record<string, string>;
    },
    { id: string }
  >;
}
