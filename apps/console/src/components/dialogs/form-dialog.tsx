import type { ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { type Form, FormBox } from '../forms/form.tsx';

interface FormDialogProps<Values> {
  title: string;
  form: Form<Values>;
  submitLabel: string;
  /** What it does ends something, or cannot be taken back: its button is red. */
  isDangerous?: boolean;
  size?: string;
  onClose: () => void;
  children: ReactNode;
}

/** A form in a dialog of its own. It stays until the API has taken it, so what was typed is never lost to a refusal. */
export function FormDialog<Values>(props: FormDialogProps<Values>) {
  const { title, form, submitLabel, isDangerous = false, size, onClose, children } = props;
  return (
    <Dialog title={title} onClose={onClose} {...(size !== undefined && { size })}>
      <FormBox form={form} submitLabel={submitLabel} isDangerous={isDangerous} onCancel={onClose}>
        {children}
      </FormBox>
    </Dialog>
  );
}
