import type { FastifyReply } from 'fastify';

/** Sends an answer that is written as JSON already: in steps, since it is long, or to the letter, where it holds what others wrote. */
export function sendJson(reply: FastifyReply, text: string): FastifyReply {
  return reply.type('application/json; charset=utf-8').send(text);
}
