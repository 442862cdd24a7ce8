import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { type Form, FormBox } from '../forms/form.tsx';

interface FormDialogProps<Values> {
  title: string;
  form: Form<Values>;
  submitLabel: string;
  size?: string;
  onClose: () => void;
  children: ReactNode;
}

/** A form in a dialog of its own. It stays until the API has taken it, so what was typed is never lost to a refusal. */
export function FormDialog<Values>({ title, form, submitLabel, size, onClose, children }: FormDialogProps<Values>) {
  return (
    <Dialog title={title} onClose={onClose} {...(size !== undefined && { size })}>
      <FormBox form={form} submitLabel={submitLabel} onCancel={onClose}>
        {children}
      </FormBox>
    </Dialog>
  );
}
