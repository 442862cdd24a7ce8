import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { changeShown, client, send, type Schema } from '../api/client.ts';
import { problemOf } from '../api/problem.ts';
import { invalidate } from '../api/queries.ts';
import { Confirm } from '../components/dialogs/confirm.tsx';
import { RowMenu } from '../components/lists/row-menu.tsx';
import { ToChange } from '../components/forms/to-change.tsx';
import { notify } from '../components/outcomes/notices.tsx';
import { wordsOf } from '../components/outcomes/problem-words.ts';
import { AlertForm } from './alert-form.tsx';

interface AlertMenuProps {
  alert: Schema<'Alert'>;
  onDeleted?: () => void;
}

/** What can be done to an alert. */
export function AlertMenu({ alert, onDeleted }: AlertMenuProps) {
  const { id, name, status } = alert;
  const queries = useQueryClient();
  const [isEditing, setEditing] = useState(false);
  const params = { path: { id } };
  const isOn = status === 'ACTIVE';
  const turn = async (): Promise<void> => {
    try {
      await changeShown('/api/v1/alerts/{id}', params, { status }, (PATCH) =>
        PATCH('/api/v1/alerts/{id}', { params, body: { status: isOn ? 'DISABLED' : 'ACTIVE' } }),
      );
      notify(isOn ? `“${name}” is off.` : `“${name}” is on.`);
    } catch (error) {
      notify(wordsOf(problemOf(error)).said, 'bad');
    }
    await invalidate(queries, '/api/v1/alerts', '/api/v1/alerts/{id}');
  };
  return (
    <>
      <Confirm
        label="Delete the alert"
        title={`Delete “${name}”?`}
        isDangerous
        onConfirm={async () => {
          await send(client.DELETE('/api/v1/alerts/{id}', { params }));
          await invalidate(queries, '/api/v1/alerts');
          notify(`The alert “${name}” is deleted.`);
          onDeleted?.();
        }}
        trigger={(open) => (
          <RowMenu
            label={`Actions on ${name}`}
            items={[
              { label: 'Edit', onClick: () => setEditing(true) },
              { label: isOn ? 'Turn off' : 'Turn on', onClick: () => void turn() },
              { label: 'Delete', onClick: open, isDangerous: true },
            ]}
          />
        )}
      >
        <p>With the list of what was crossed. This cannot be taken back.</p>
      </Confirm>
      {isEditing && (
        <ToChange path="/api/v1/alerts/{id}" params={params}>
          {(opened) => (
            <AlertForm opened={opened} onSaved={() => setEditing(false)} onClose={() => setEditing(false)} />
          )}
        </ToChange>
      )}
    </>
  );
}
