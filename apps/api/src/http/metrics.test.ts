import { createLog } from '@weir/shared/log';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { expect, test } from 'vitest';
import type { Connections } from './connection/connections.ts';
import { buildMetrics, useMetrics, type MetricSources } from './metrics.ts';
import type { App } from './typed-app.ts';

test('of many slow requests of a route one line is written, and none of questions for health', () => {
  const ends: Parameters<Connections['onEnd']>[0][] = [];
  const connections = { onEnd: (end: (typeof ends)[number]) => void ends.push(end) } as unknown as Connections;
  useMetrics({ get: () => {} } as unknown as App, buildMetrics({} as MetricSources), connections);
  const lines: object[] = [];
  const log = createLog('test', 'silent');
  log.warn = (fields: object) => void lines.push(fields);
  const end = (url: string, traffic: string | undefined, elapsedTime: number) => {
    const request = { method: 'GET', routeOptions: { url, config: { traffic } }, log } as unknown as FastifyRequest;
    ends[0]?.(request, { statusCode: 503, elapsedTime } as FastifyReply, false);
  };
  for (let at = 0; at < 100; at += 1) {
    end('/api/v1/sdk/track', 'tracking', 1_001);
    end('/api/v1/features', undefined, 1_001);
    end('/api/v1/meters', undefined, 999);
    end('/readyz', 'vital', 1_001);
  }
  expect(lines).toEqual([
    { route: '/api/v1/sdk/track', status: 503, ms: 1001 },
    { route: '/api/v1/features', status: 503, ms: 1001 },
  ]);
});
