import { Modal } from '@mantine/core';
import { useEffect, useState, type FocusEvent, type ReactNode } from 'react';
import { flushSync } from 'react-dom';
import { AtRisk, useRisks, type Risk } from './at-risk.ts';
import { focusFirstOf, placesOf } from './focus.ts';
import { useLeaving } from './leaving.ts';
import { Question } from './question.tsx';

interface DialogProps {
  title: string;
  size?: string;
  onClose: () => void;
  /** While it shows what nobody can show again: a button in it says that one has a copy, and whatever else closes it asks before. */
  isShownOnce?: boolean;
  children: ReactNode;
}

/**
 * A dialog, which is there for as long as it is mounted. Its first field has the focus. When it goes, the focus is back where it
 * was; and where that is gone too, as after a delete, on the nearest thing around it that is left. Nobody closes it while what it
 * has sent is on its way, and it asks before something is lost that was typed in it, or that it shows once.
 */
export function Dialog({ title, size = 'md', onClose, isShownOnce = false, children }: DialogProps) {
  const inIt = useRisks();
  const [isAsked, setAsked] = useState(false);
  const risk = isShownOnce ? 'shown once' : inIt.risk;
  // Who closed it would not hear what became of what is on its way.
  const isHeld = inIt.isSent;
  const leaving = useLeaving(risk, { isWholePage: isShownOnce || isHeld });
  useFocusBack();
  const leave = () => {
    // First the question, which gives the focus back to a field, and then what has the field.
    flushSync(() => setAsked(false));
    onClose();
  };
  return (
    <>
      <Modal
        opened
        onClose={risk === undefined ? onClose : () => setAsked(true)}
        title={title}
        size={size}
        returnFocus={false}
        closeOnClickOutside={!isHeld}
        closeOnEscape={!isHeld && !isAsked && leaving.status !== 'blocked'}
        closeButtonProps={{ 'aria-label': 'Close', disabled: isHeld }}
        // Else it is taken for that of a page, of which there is one.
        attributes={{ header: { role: 'none' } }}
      >
        <AtRisk value={inIt.report}>
          <div ref={chooseFirstField} onFocus={keepFocused}>
            {children}
          </div>
        </AtRisk>
      </Modal>
      {isAsked && <LeaveQuestion risk={risk} onLeave={leave} onStay={() => setAsked(false)} />}
      {leaving.status === 'blocked' && <LeaveQuestion risk={risk} onLeave={leaving.proceed} onStay={leaving.reset} />}
    </>
  );
}

interface LeaveQuestionProps {
  /** What would be lost. */
  risk: Risk | undefined;
  onLeave: () => void;
  onStay: () => void;
}

const QUESTIONS: Record<Risk, { title: string; text: string }> = {
  typed: { title: 'Leave without saving?', text: 'What was typed here is lost then.' },
  sent: {
    title: 'Leave while it is being sent?',
    text: 'Leaving does not stop it. If it is refused you are told so, but cannot correct it here any more.',
  },
  'shown once': {
    title: 'Leave without copying it?',
    text: 'It is not shown again. Whoever has no copy of it has to make another one.',
  },
};

/** Asks before something is lost. */
export function LeaveQuestion({ risk = 'typed', onLeave, onStay }: LeaveQuestionProps) {
  const { title, text } = QUESTIONS[risk];
  return (
    <Dialog title={title} onClose={onStay}>
      <Question label="Leave" onConfirm={() => Promise.resolve(onLeave())} onCancel={onStay} isDangerous>
        {text}
      </Question>
    </Dialog>
  );
}

/** Brings the focus back when the component goes. */
export function useFocusBack(): void {
  // Before anything of the dialog is there, so that what is focused is what opened it.
  const [places] = useState(placesOf);
  useEffect(() => () => focusFirstOf(places), [places]);
}

const FIELD = 'input:not([type="hidden"]):not([disabled]), textarea:not([disabled]), select:not([disabled])';

/** By itself the first thing that can be focused is the button that closes the dialog. */
function chooseFirstField(content: HTMLElement | null): void {
  if (content === null || content.querySelector('[data-autofocus]') !== null) return;
  const first = content.querySelector<HTMLInputElement>(FIELD);
  // Of choices it is the one that is chosen: the others cannot be reached by Tab.
  const field = first?.type === 'radio' ? content.querySelector<HTMLElement>('input[type="radio"]:checked') : first;
  field?.setAttribute('data-autofocus', 'true');
}

/** The first field gets the focus a moment after it is there. Whoever is in another one by then stays where he is. */
function keepFocused({ currentTarget: content, target }: FocusEvent<HTMLElement>): void {
  if (!content.contains(target)) return;
  for (const each of content.querySelectorAll('[data-autofocus]')) each.removeAttribute('data-autofocus');
  target.setAttribute('data-autofocus', 'true');
}
