import type { FastifyInstance } from 'fastify';

/** The name of the id of a request, in the log and in every problem. */
export const REQUEST_ID = 'request_id';

// W3C Trace Context: version, trace, span, flags. Version ff, a trace and a span of nothing but zeros are not valid.
const TRACEPARENT = /^(?!ff)[\da-f]{2}-(?!0{32})([\da-f]{32})-(?!0{16})[\da-f]{16}-[\da-f]{2}$/;

/**
 * Sends the id of each request back as `X-Request-Id`, and logs the trace that its sender names. The id is always our own: a
 * client could choose that of another request.
 */
export function useRequestIds(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    void reply.header('x-request-id', request.id);
    const { traceparent } = request.raw.headers;
    if (traceparent !== undefined) {
      const trace = TRACEPARENT.exec(String(traceparent))?.[1];
      if (trace !== undefined) request.log = reply.log = request.log.child({ trace_id: trace });
    }
    done();
  });
}
