import type { Database } from '@weir/db/database';
import { createLog } from '@weir/shared/log';
import { deliverTurn, type DeliveryDeps } from '@weir/worker/webhooks/deliver';
import { EndpointPlaces } from '@weir/worker/webhooks/endpoint-places';
import { Pace } from '@weir/worker/webhooks/pace';
import type { Sender } from '@weir/worker/webhooks/send-request';

/** Has a turn of an endpoint, with no worker's other turns beside it. Returns whether it left something. */
export function deliverTo(
  { database, sender }: { database: Database; sender: Sender },
  organizationId: string,
  endpointId: string,
  others: Partial<Pick<DeliveryDeps, 'sender' | 'places' | 'pace' | 'closing'>> = {},
): Promise<boolean> {
  return deliverTurn(
    {
      database,
      sender,
      places: new EndpointPlaces(8),
      pace: new Pace(5_000),
      log: createLog('webhooks', 'silent'),
      metrics: { webhookAttempts: { inc: () => {} } },
      closing: new AbortController().signal,
      ...others,
    },
    { organizationId, endpointId },
  );
}
