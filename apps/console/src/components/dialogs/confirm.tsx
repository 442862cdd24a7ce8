import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { Dialog } from './dialog.tsx';
import { useHeldOpen } from './held-open.ts';
import { ProblemBox } from '../outcomes/problem-box.tsx';

interface ConfirmProps {
  /** The words on the button that asks, and on the one that does it. */
  label: string;
  /** The question. */
  title: string;
  /** What will be different afterwards, and whether it can be taken back. */
  children: ReactNode;
  /** Does it. When it throws, the dialog stays and says why. */
  onConfirm: () => Promise<unknown>;
  isDangerous?: boolean;
  /** Draws the button that asks; by default a plain one. */
  trigger?: (open: () => void) => ReactNode;
}

/** A button that asks before it does something that cannot be taken back easily. */
export function Confirm({ label, title, children, onConfirm, isDangerous = false, trigger }: ConfirmProps) {
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
            onCancel={close}
          >
            {asked.children}
          </Question>
        </Dialog>
      )}
    </>
  );
}

type QuestionProps = Pick<ConfirmProps, 'label' | 'children' | 'onConfirm'> & {
  isDangerous?: boolean;
  onCancel: () => void;
};

/** What is asked in a dialog, and the button that does it. */
export function Question({ label, children, onConfirm, isDangerous = false, onCancel }: QuestionProps) {
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  useHeldOpen(isBusy);
  const confirm = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    try {
      await onConfirm();
    } catch (problem) {
      setError(problem);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <div className="dialog-text">{children}</div>
      <ProblemBox error={error} isFocused />
      <div className="dialog-actions">
        <Button variant="default" onClick={onCancel} disabled={isBusy} data-autofocus>
          Cancel
        </Button>
        <Button color={isDangerous ? 'red.9' : undefined} loading={isBusy} onClick={() => void confirm()}>
          {label}
        </Button>
      </div>
    </>
  );
}
