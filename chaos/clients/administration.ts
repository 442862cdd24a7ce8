// Admins meanwhile: keys that live for a moment, and customers that come and go.

import { adminMessage, readMessage, trackRequest, type ClientContext } from './client-context.ts';

/** Creates a key, tracks with it, deletes it, and tries it once more on every API: then it must be refused. */
export async function liveAndDieOfKey(context: ClientContext, signal: AbortSignal): Promise<void> {
  const organization = context.pickOrganization();
  const name = `short-lived ${context.newName()}`;
  const created = await context.sender.send(
    {
      organization: organization.index,
      operation: 'create-key',
      expect: [201],
      message: adminMessage(organization, 'POST', '/api-keys', { name, scopes: ['usage.write'] }),
    },
    signal,
  );
  if (created?.status !== 201) return;
  const { id, key: apiKey } = JSON.parse(created.text) as { id: string; key: string };
  const apis = Array.from({ length: context.sender.apis }, (_, api) => api);
  const trackOnEach = (expect: number[]) =>
    Promise.all(
      apis.map((api) => {
        const request = trackRequest(organization, context.newEvent(organization), { apiKey });
        return context.sender.send({ ...request, expect, api, asksPostgres: true }, signal);
      }),
    );
  await trackOnEach([201, 409]);
  const deleted = await context.sender.send(
    {
      organization: organization.index,
      operation: 'delete-key',
      subject: id,
      // 404 when an attempt that was not answered had deleted it.
      expect: [204, 404],
      isRetried: true,
      message: adminMessage(organization, 'DELETE', `/api-keys/${id}`),
    },
    signal,
  );
  if (deleted === undefined) return;
  await trackOnEach([401]);
}

/** Creates a customer, deletes it, and looks whether it is gone. */
export async function comeAndGoOfCustomer(context: ClientContext, signal: AbortSignal): Promise<void> {
  const organization = context.pickOrganization();
  const created = await context.sender.send(
    {
      organization: organization.index,
      operation: 'create-customer',
      expect: [201],
      message: adminMessage(organization, 'POST', '/customers', { external_id: `guest-${context.newName()}` }),
    },
    signal,
  );
  if (created?.status !== 201) return;
  const { id } = JSON.parse(created.text) as { id: string };
  const deleted = await context.sender.send(
    {
      organization: organization.index,
      operation: 'delete-customer',
      subject: id,
      expect: [204, 404],
      isRetried: true,
      message: adminMessage(organization, 'DELETE', `/customers/${id}`),
    },
    signal,
  );
  if (deleted === undefined) return;
  await context.sender.send(
    {
      organization: organization.index,
      operation: 'cross-read',
      subject: id,
      expect: [404],
      message: readMessage(organization, `/customers/${id}`),
    },
    signal,
  );
}
