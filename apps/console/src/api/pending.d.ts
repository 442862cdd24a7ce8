// What the API is about to have (its document will say so, and this file goes).

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

export interface PendingPaths {
  '/api/v1/meters/{id}/usage': Get<
    {
      groups?: {
        value: string | null;
        is_rest?: boolean;
        total_usage: string | null;
        event_count: number;
        grouped_data: { period: string; period_start: string; usage: string | null; event_count: number }[];
      }[];
    },
    { group_by_metadata?: string; groups_limit?: number }
  >;
  '/api/v1/meters': Get<{ data: { metadata_keys: string[] }[] }, { search?: string; status?: 'ACTIVE' | 'ARCHIVED' }>;
}
