// The keys of the metadata by which the usage of a meter can be grouped and filtered.

import '@mantine/core/styles/Pill.css';
import '@mantine/core/styles/PillsInput.css';
import { Button, TagsInput } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { type Opened, type Schema } from '../api/client.ts';
import { METER_KEYS_MAX } from '../api/limits.ts';
import { invalidate } from '../api/queries.ts';
import { ToChange } from '../components/forms/to-change.tsx';
import { AdminOnly } from '../components/page/admin-only.tsx';
import { FormDialog } from '../components/dialogs/form-dialog.tsx';
import { useForm } from '../components/forms/form.tsx';
import { Section } from '../components/page/page.tsx';

export function MeterKeys({ meter }: { meter: Schema<'Meter'> }) {
  const [isEdited, setIsEdited] = useState(false);
  const keys = keysOf(meter);
  return (
    <Section
      title="Grouped by metadata"
      actions={
        <AdminOnly>
          <Button variant="default" onClick={() => setIsEdited(true)}>
            Choose keys
          </Button>
        </AdminOnly>
      }
    >
      <p className="muted">
        {keys.length === 0
          ? 'By no key: events are counted as they come.'
          : keys.map((key) => `metadata.${key}`).join(', ')}
      </p>
      {isEdited && (
        <ToChange path="/api/v1/meters/{id}" params={{ path: { id: meter.id } }}>
          {(opened) => <KeysForm opened={opened} onClose={() => setIsEdited(false)} />}
        </ToChange>
      )}
    </Section>
  );
}

function keysOf(meter: Schema<'Meter'>): string[] {
  return meter.metadata_keys;
}

function KeysForm({ opened, onClose }: { opened: Opened<Schema<'Meter'>>; onClose: () => void }) {
  const queries = useQueryClient();
  const path = { id: opened.data.id };
  const form = useForm({
    initial: { metadata_keys: keysOf(opened.data) },
    reload: async () => ({ metadata_keys: keysOf(await opened.reload()) }),
    async onSubmit(body) {
      await opened.change((PATCH) => PATCH('/api/v1/meters/{id}', { params: { path }, body }));
      await invalidate(queries, '/api/v1/meters', '/api/v1/meters/{id}');
      onClose();
    },
  });
  return (
    <FormDialog title="Group usage by metadata" submitLabel="Save" form={form} onClose={onClose}>
      <TagsInput
        label="Keys of the metadata"
        description="Such as model or region; up to five. What was counted before is grouped by them in a few moments"
        maxTags={METER_KEYS_MAX}
        acceptValueOnBlur
        {...form.field('metadata_keys')}
      />
    </FormDialog>
  );
}
