import { Button } from '@mantine/core';
import { useState, type ReactNode } from 'react';
import { ProblemBox } from '../outcomes/problem-box.tsx';
import { pageTitle, tellWhoLeft } from '../outcomes/tell-who-left.ts';
import { useAtRisk } from './at-risk.ts';
import { useIsThere } from './is-there.ts';

export interface QuestionProps {
  /** The words on the button that does it. */
  label: string;
  /** What will be different afterwards, and whether it can be taken back. */
  children: ReactNode;
  /** Does it. When it throws, the dialog stays and says why. */
  onConfirm: () => Promise<unknown>;
  isDangerous?: boolean;
  /** What comes of it is shown once: whoever leaves while it is made is asked as where it is shown. */
  isShownOnce?: boolean;
  /** Whether it can be done by now. Default: true. */
  isReady?: boolean;
  onCancel: () => void;
}

/** What is asked in a dialog, and the button that does it. */
export function Question(props: QuestionProps) {
  const { label, children, onConfirm, isDangerous = false, isShownOnce = false, isReady = true, onCancel } = props;
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const isThere = useIsThere();
  useAtRisk(isBusy ? 'sent' : undefined);
  useAtRisk(isBusy && isShownOnce ? 'shown once' : undefined);
  const confirm = async (): Promise<void> => {
    setBusy(true);
    setError(null);
    const title = pageTitle();
    try {
      await onConfirm();
    } catch (problem) {
      if (isThere()) setError(problem);
      else tellWhoLeft(title, problem);
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
        <Button
          color={isDangerous ? 'red.9' : undefined}
          loading={isBusy}
          disabled={!isReady}
          onClick={() => void confirm()}
        >
          {label}
        </Button>
      </div>
    </>
  );
}
