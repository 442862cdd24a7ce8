import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ProblemBox } from '../outcomes/problem-box.tsx';
import { useHeldOpen } from './held-open.ts';

export interface QuestionProps {
  /** The words on the button that does it. */
  label: string;
  /** What will be different afterwards, and whether it can be taken back. */
  children: ReactNode;
  /** Does it. When it throws, the dialog stays and says why. */
  onConfirm: () => Promise<unknown>;
  isDangerous?: boolean;
  onCancel: () => void;
}

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
