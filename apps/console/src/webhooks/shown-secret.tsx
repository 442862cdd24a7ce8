import { Button } from '@mantine/core';
import type { Schema } from '../api/client.ts';
import { Dialog } from '../components/dialogs/dialog.tsx';
import { SecretOnce } from '../components/page/secret-once.tsx';

interface ShownSecretProps {
  /** Null where the answer that held it did not come. */
  secret: string | null;
  /** In the place of another one, which signs, too, until it is rotated again. */
  isRotated?: boolean;
  onClose: () => void;
}

const ELSEWHERE = 'Rotate it on the page of the endpoint, and give the receiver that one.';
const AGAIN =
  'Rotate it again, and give the receiver that one: the secret that the receiver knows signs no longer from then on.';

type Made = Schema<'WebhookEndpointWithSecret'>;

/** Told to whoever has left before the secret was there: of a new endpoint, and of one that has another secret. */
export const lostSecret = ({ url }: Made): string =>
  `The endpoint of ${url} was made while you were elsewhere, and nobody can show its secret again. ${ELSEWHERE}`;
export const lostRotation = ({ url }: Made): string =>
  `The endpoint of ${url} got another secret while you were elsewhere, and nobody can show it again. ${AGAIN}`;

/** The secret of an endpoint, which nobody can show again. */
export function ShownSecret({ secret, isRotated = false, onClose }: ShownSecretProps) {
  return (
    <Dialog title="The secret of the endpoint" onClose={onClose} isShownOnce={secret !== null}>
      <p className="dialog-lead">
        {secret === null
          ? `What is sent to the endpoint is signed with it. ${isRotated ? AGAIN : ELSEWHERE}`
          : 'Give it to the receiver, which tells by it what comes from Weir. Nobody can show it again, and a new one can be made at any time.'}
      </p>
      <SecretOnce text={secret} label="Copy the secret" />
      <div className="dialog-actions">
        <Button onClick={onClose} data-autofocus>
          {secret === null ? 'Close' : 'I have copied it'}
        </Button>
      </div>
    </Dialog>
  );
}
