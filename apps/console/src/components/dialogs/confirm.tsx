import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { Question, type QuestionProps } from './question.tsx';

/** Its `label` is also that of the button that asks. */
interface ConfirmProps extends Omit<QuestionProps, 'onCancel'> {
  /** The question. */
  title: string;
  /** Draws the button that asks; by default a plain one. */
  trigger?: (open: () => void) => ReactNode;
}

/** A button that asks before it does something that cannot be taken back easily. */
export function Confirm(props: ConfirmProps) {
  const { label, title, children, onConfirm, isDangerous = false, isShownOnce = false, trigger } = props;
  // What was asked stays, and so does what it does, whatever is read meanwhile.
  const [asked, setAsked] = useState<Pick<ConfirmProps, 'label' | 'title' | 'children' | 'onConfirm'>>();
  const open = () => setAsked({ label, title, children, onConfirm });
  const close = () => setAsked(undefined);
  return (
    <>
      {trigger === undefined ? (
        <Button variant={isDangerous ? 'light' : 'default'} color={isDangerous ? 'red' : undefined} onClick={open}>
          {label}
        </Button>
      ) : (
        trigger(open)
      )}
      {asked !== undefined && (
        <Dialog title={asked.title} onClose={close}>
          <Question
            label={asked.label}
            onConfirm={() => asked.onConfirm().then(close)}
            isDangerous={isDangerous}
            isShownOnce={isShownOnce}
            onCancel={close}
          >
            {asked.children}
          </Question>
        </Dialog>
      )}
    </>
  );
}
