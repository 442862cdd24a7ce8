// Mails with links, where the operator has named a server that sends them. Nothing depends on them: whoever asked for a link
// has it in the answer, or asks again.

import type { FastifyBaseLogger } from 'fastify';
import { createTransport } from 'nodemailer';
import { withinMs } from '@weir/shared/within';
import type { ApiSettings } from '../settings.ts';

/** A mail of plain text to one person. */
export interface Mail {
  to: string;
  subject: string;
  text: string;
}

/** Returns whether the server has taken the mail. It never throws: why it did not is logged. */
export type SendMail = (mail: Mail, log: FastifyBaseLogger) => Promise<boolean>;

/** An admin waits for the answer meanwhile, and so does a stop. */
const SEND_MS_MAX = 5_000;

/** Undefined where no server is set. A connection is made for each mail, since there are few. */
export function buildSendMail({ SMTP_URL, SMTP_FROM }: ApiSettings): SendMail | undefined {
  if (SMTP_URL === undefined || SMTP_FROM === undefined) return undefined;
  const transport = createTransport({
    url: SMTP_URL,
    connectionTimeout: SEND_MS_MAX,
    greetingTimeout: SEND_MS_MAX,
    socketTimeout: SEND_MS_MAX,
    dnsTimeout: SEND_MS_MAX,
    disableFileAccess: true,
    disableUrlAccess: true,
  });
  return async (mail, log) => {
    try {
      await withinMs(SEND_MS_MAX, transport.sendMail({ from: SMTP_FROM, ...mail }));
      return true;
    } catch (error) {
      logUnsent(error, log);
      return false;
    }
  };
}

/** What a server says, which stands in the message of the error, may quote the address, or the mail with its link: it is not logged. */
function logUnsent(error: unknown, log: FastifyBaseLogger): void {
  const { code, response, responseCode, command } = error as Partial<Record<string, unknown>>;
  if (code === 'EENVELOPE' || code === 'EMESSAGE') {
    const why =
      'the mail server refused a mail: MAIL FROM is about SMTP_FROM, RCPT TO about the recipient, DATA about the mail';
    log.warn({ code, responseCode, command }, why);
    return;
  }
  const told = response === undefined ? { err: error } : { code, responseCode, command };
  log.warn(told, 'a mail could not be sent: check SMTP_URL');
}

/** The link in a mail stands on a line of its own, where mail programs find all of it. */
export function invitationMail(to: string, organizationName: string, link: string, expiresAt: string): Mail {
  const text = [
    `You are invited to join ${oneLine(organizationName)} on Weir. Choose a password here:`,
    link,
    `The link works once, until ${dayOf(expiresAt)}. If you did not expect it, leave it alone.`,
  ].join('\n\n');
  return { to, subject: `Your invitation to ${oneLine(organizationName)}`, text };
}

export function passwordResetMail(to: string, link: string, expiresAt: string): Mail {
  const text = [
    'Somebody, probably you, asked for a new password for your account at Weir. Choose it here:',
    link,
    `The link works once, until ${dayOf(expiresAt)}. If it was not you, leave it alone: your password stays as it is.`,
  ].join('\n\n');
  return { to, subject: 'A new password for Weir', text };
}

function dayOf(instant: string): string {
  return `${instant.slice(0, 10)} ${instant.slice(11, 16)} UTC`;
}

/** A name may hold line breaks, with which it could pretend to be more of the mail than it is. */
function oneLine(name: string): string {
  return name.replace(/\s+/gu, ' ').trim();
}
