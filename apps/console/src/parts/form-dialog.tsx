import { Modal } from '@mantine/core';
import type { ReactNode } from 'react';
import { type Form, FormBox } from './form.tsx';

interface FormDialogProps<Values> {
  title: string;
  form: Form<Values>;
  submitLabel: string;
  size?: string;
  onClose: () => void;
  children: ReactNode;
}

/** A form in a dialog of its own. It stays until the API has taken it, so what was typed is never lost to a refusal. */
export function FormDialog<Values>({
  title,
  form,
  submitLabel,
  size = 'md',
  onClose,
  children,
}: FormDialogProps<Values>) {
  return (
    <Modal opened onClose={onClose} title={title} size={size} closeButtonProps={{ 'aria-label': 'Close' }}>
      <FormBox form={form} submitLabel={submitLabel} onCancel={onClose}>
        {children}
      </FormBox>
    </Modal>
  );
}
